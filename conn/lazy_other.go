//go:build !unix

package conn

import (
	"io"

	"github.com/correlator-go/correlator/codec"
)

func socketReader(io.Reader) codec.LazyReader { return nil }
