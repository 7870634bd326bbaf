package drive

import (
	"fmt"

	"github.com/correlator-go/correlator/internal/echo"
)

// Received is the progress notifications that came, whatever became of them.
func (r *Result) Received() int64 {
	s := &r.Stats
	return int64(s.ProgressDelivered + s.ProgressCoalesced + s.ProgressLate + s.ProgressUnknown)
}

// Stray is the answers that no call was waiting for.
func (r *Result) Stray() int64 {
	c := &r.Stats.Calls
	return int64(c.Late + c.Duplicate + c.Unknown)
}

// Audit compares the generator's counts with each other, with the connection's
// own and, unless server is nil, with those of the echo server at the other end,
// and returns each contradiction in words. Where the connection ended before
// the calls did (broken, or Result.Cut), frames were on their way: then the
// server cannot have read more than was sent, nor have given fewer answers than
// came, and the rest is not compared.
func Audit(r *Result, server *echo.Counts, broken bool) (problems []string) {
	equal := func(what string, a, b int64) {
		if a != b {
			problems = append(problems, fmt.Sprintf("%s: %d and %d differ by %d", what, a, b, a-b))
		}
	}
	atMost := func(what string, a, b int64) {
		if a > b {
			problems = append(problems, fmt.Sprintf("%s: %d is above %d", what, a, b))
		}
	}
	ends, calls := r.Ends(), &r.Stats.Calls
	equal("sent, and ok + error + timeout + cancelled + lost", r.Sent, ends.Sum())
	equal("in flight at the end, and none", r.InFlight, 0)
	if broken || r.Cut {
		if server != nil {
			atMost("the server's requests, and sent", server.Requests, r.Sent)
			atMost("answers taken, and the server's answers", ends.OK+ends.Error+r.Stray(), server.Answers)
		}
		return problems
	}
	equal("planned, and sent + dropped", r.Planned, r.Sent+r.Dropped)
	equal("sent, and the engine's registered", r.Sent, int64(calls.Registered))
	equal("ok + error, and the engine's resolved + rejected", ends.OK+ends.Error, int64(calls.Resolved+calls.Rejected))
	equal("timeout, and the engine's expired", ends.Timeout, int64(calls.Expired))
	equal("cancelled + lost, and the engine's cancelled + failed", ends.Cancelled+ends.Lost, int64(calls.Cancelled+calls.Failed))
	equal("pending in the engine, and none", int64(calls.Pending), 0)
	atMost("requests that the connection left out, and those that ended unwritten", int64(r.Stats.Skipped), r.Unsent)
	if server == nil {
		return problems
	}
	equal("sent less those that ended unwritten, and the server's requests", r.Sent-r.Unsent, server.Requests)
	equal("answers taken (ok + error + late + duplicate + unknown), and the server's answers", ends.OK+ends.Error+r.Stray(), server.Answers)
	equal("progress received, and the server's progress", r.Received(), server.Progress)
	equal("cancels sent, and the server's cancels", int64(r.Stats.CancelsOut), server.Cancels)
	return problems
}
