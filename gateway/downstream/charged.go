package downstream

import (
	"io"

	"github.com/correlator-go/correlator/gateway/limit"
)

// charged is a request's body that counts against the process's budget for what is not
// whole, from its first byte until the request is over.
type charged struct {
	io.ReadCloser
	held int64
}

// Read reads, and fails with limit.ErrBudget when there is no room for more.
func (c *charged) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	if n > 0 {
		if refused := limit.Partial.Charge(int64(n)); refused != nil {
			return 0, refused
		}
		c.held += int64(n)
	}
	return n, err
}

func (c *charged) over() { _ = limit.Partial.Charge(-c.held) } // giving back is never refused
