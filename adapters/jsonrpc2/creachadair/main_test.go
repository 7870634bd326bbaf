package creachadair_test

import (
	"testing"

	"github.com/correlator-go/correlator/adapters/jsonrpc2/internal/script"
)

func TestMain(m *testing.M) { script.Main(m) }
