package report

import (
	"fmt"

	"github.com/correlator-go/correlator/internal/load/drive"
	"github.com/correlator-go/correlator/internal/load/tally"
)

// parts takes over what became of each connection and each entry of the mix.
func (d *Document) parts(r *drive.Result) {
	part := func(name string, share float64, p tally.Part) Part {
		return Part{Name: name, Share: share, Ends: p.Ends, Rate: perLength(p.Ends.OK+p.Ends.Error, d.Rates.Seconds), Response: p.Response}
	}
	d.Connections, d.Mix = make([]Part, 0, len(r.Connections)), make([]Part, 0, len(r.Entries))
	for i, p := range r.Connections {
		d.Connections = append(d.Connections, part(fmt.Sprint(i+1), 1/float64(len(r.Connections)), p))
	}
	for i, p := range r.Entries {
		d.Mix = append(d.Mix, part(r.Mix.Entries()[i].Name, r.Mix.Share(i), p))
	}
	if len(d.Connections) > 0 {
		d.Fairness = fairness(d.Connections)
	}
}

func fairness(parts []Part) *Fairness {
	first := parts[0]
	f := &Fairness{first.Rate, first.Rate, first.Response.P50, first.Response.P50, first.Response.P99, first.Response.P99}
	for _, p := range parts[1:] {
		f.RateLeast, f.RateMost = min(f.RateLeast, p.Rate), max(f.RateMost, p.Rate)
		f.P50Least, f.P50Most = min(f.P50Least, p.Response.P50), max(f.P50Most, p.Response.P50)
		f.P99Least, f.P99Most = min(f.P99Least, p.Response.P99), max(f.P99Most, p.Response.P99)
	}
	return f
}

// partsShown is how many parts of a kind the text lists: of more connections, the
// JSON has them all.
const partsShown = 12

// partTable prints the parts of the load.
func (d *Document) partTable(p *printer) {
	if f := d.Fairness; f != nil {
		p.line("connections", "%d; least–most of one: %s–%s calls/s, p50 %s–%s, p99 %s–%s", len(d.Connections),
			perSecond(f.RateLeast), perSecond(f.RateMost), ns(f.P50Least), ns(f.P50Most), ns(f.P99Least), ns(f.P99Most))
	}
	for i, part := range d.Mix {
		if i == partsShown {
			p.line("", "and %d more", len(d.Mix)-i)
			break
		}
		latency := "no call was answered"
		if part.Response.Count > 0 {
			latency = fmt.Sprintf("p50 %s  p99 %s  max %s", ns(part.Response.P50), ns(part.Response.P99), ns(part.Response.Max))
		}
		failed := part.Ends.Sum() - part.Ends.OK
		p.line(only(i == 0, "mix"), "%-24s %5.1f%% asked, %s, %s not ok; %s", part.Name, part.Share*100, Counted(part.Ends.Sum(), "call"), Grouped(failed), latency)
	}
}
