package report

import (
	"fmt"
	"time"

	"github.com/correlator-go/correlator/internal/load/drive"
	"github.com/correlator-go/correlator/internal/load/slo"
)

const (
	// generatorShare is how much of the calls, or of their time, the generator
	// may hold up before the report calls it the bottleneck.
	generatorShare = 0.01
	waitShare      = 0.20
	// busyShare is when all processors count as busy.
	busyShare = 0.85
)

// generatorBehind reports whether the generator itself held up too many requests.
func generatorBehind(n Counts) bool { return float64(n.Behind-n.Held) > generatorShare*float64(n.Sent) }

// note says aloud what a reader could take wrongly.
func (d *Document) note(r *drive.Result) {
	say := func(format string, args ...any) { d.Notes = append(d.Notes, fmt.Sprintf(format, args...)) }
	open := d.Config.Loop == "open"
	n := d.Counts
	if r.Interrupted {
		say("interrupted: this is the part until then")
	}
	for _, e := range d.Events {
		say("%s at %v, by hand", e.Text, short(e.At))
	}
	if open && n.Dropped > 0 {
		say("%s of %s planned calls (%s) were dropped: all %s in flight were out when they were due, or still at the end", Grouped(n.Dropped), Grouped(n.Planned), share(n.Dropped, n.Planned), Grouped(int64(d.Config.InFlight)))
	}
	if open && n.Held > 0 {
		say("behind: %s of %s calls (%s) were sent more than %v after they were due, for want of room (-c %d) or since the peer did not read",
			Grouped(n.Held), Grouped(n.Sent), share(n.Held, n.Sent), drive.BehindAfter, d.Config.InFlight)
	}
	if own := n.Behind - n.Held; open && own > 0 {
		if generatorBehind(n) {
			say("THE GENERATOR WAS THE BOTTLENECK: %s of %s calls (%s) were behind by more than %v although there was room; response times include that",
				Grouped(own), Grouped(n.Sent), share(own, n.Sent), drive.BehindAfter)
		} else {
			say("behind: %s of %s calls (%s) were sent more than %v after they were due, by the generator itself",
				Grouped(own), Grouped(n.Sent), share(own, n.Sent), drive.BehindAfter)
		}
	}
	busy := d.Cost.Busy != nil && *d.Cost.Busy >= busyShare
	if !open {
		response, service := d.Latency.Response.Mean, d.Latency.Service.Mean
		if waited := response - service; float64(waited) > waitShare*float64(response) && !d.Config.InProcess {
			say("THE GENERATOR WAS THE BOTTLENECK: of a mean of %v a call waited %v in it before it was sent",
				slo.Round(time.Duration(response)), slo.Round(time.Duration(waited)))
		}
	}
	switch {
	case busy && d.Config.InProcess:
		say("all %d processors were busy: client and echo shared them, and this is the most they carry", d.Tool.GOMAXPROCS)
	case busy:
		say("all %d processors were busy in the generator alone: it may have been the bottleneck", d.Tool.GOMAXPROCS)
	}
	if !open {
		say("closed loop: a caller asks again when it was answered, so a stall of the peer holds the asking back too; -rate measures what users wait")
	}
	if d.Cost.CPU == nil && d.Cost.Calls > 0 {
		say("CPU time is not measured on %s", d.Tool.OS)
	}
}
