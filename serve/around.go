package serve

import (
	"context"
	"time"

	"github.com/correlator-go/correlator/mcp"
)

// Run is one run of a handler, as Options.Around sees it. It is good until Around
// returns; the zero value is none.
type Run struct{ run *run }

// Invocation is what the handler is run for.
func (r Run) Invocation() *mcp.Invocation { return r.run.inv }

// Taken is when the request came in. Where the client of the older era was asked for
// input, it is when that came.
func (r Run) Taken() time.Time { return r.run.taken }

// Session is the id of the HTTP session of the older era that the request belongs to,
// "" without one.
func (r Run) Session() string {
	if s := r.run.conn.session(); s != nil {
		return s.id
	}
	return ""
}

// Perform runs the handler with ctx, which must be Around's or made from it, and
// gives what it came to. A panic of the handler goes through it. Each call runs the
// handler anew.
func (r Run) Perform(ctx context.Context) mcp.Outcome {
	return mcp.Perform(ctx, r.run.inv, r.run).Outcome
}
