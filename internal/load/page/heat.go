package page

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/correlator-go/correlator/internal/load/report"
)

const (
	// heatRows is how many rows a heat map has at most.
	heatRows = 60
	// heatColumns is how many columns: neighbouring points share one beyond it.
	heatColumns = 160
	// heatLevels is the number of colours.
	heatLevels = 7
)

// heatMap is how many calls ended when, and how long they took.
type heatMap struct {
	ID, Title, Note, Summary string
	Wide                     bool
	X, Y                     []tick
	Grid                     string
	Warm                     float64
	Levels                   []area // one path a colour
	Edges                    string // where columns end, in the drawing
	Heads                    string // what the readout says of each column
	Rows                     string // and of each row, from below
	Cells                    string // a column's "row:calls" by commas, columns by |
	Legend                   []shade
	Scale                    string // what the legend's ends mean
	Empty                    string
}

// shade is a colour of the legend and the calls a second from which it stands.
type shade struct{ Class, Text string }

// column is a stretch of time and its calls by row.
type column struct {
	start, end float64
	calls      []int64
}

// heatMaps draws each run's, with the same axes and colours.
func heatMaps(runs []*run) []heatMap {
	end, seen := 0.0, extent{}
	for _, r := range runs {
		end = max(end, r.line.end())
		for i := range r.line.points {
			if k := r.line.points[i].kept.Response; k != nil && k.TotalCount() > 0 {
				seen.add(float64(max(k.Min(), 1)))
				seen.add(float64(k.Max()))
			}
		}
	}
	x := clock(end)
	rows := rowsFor(seen)
	columns := make([][]column, len(runs))
	var full extent // of the cells, in calls a second
	for i, r := range runs {
		columns[i] = rows.count(&r.line)
		for _, c := range columns[i] {
			for _, n := range c.calls {
				full.add(float64(n) / (c.end - c.start))
			}
		}
	}
	out := make([]heatMap, len(runs))
	for i, r := range runs {
		m := heatMap{
			ID: "heat-" + r.class, Title: "Heat map of response times", Wide: len(runs) == 1,
			Note: "Each cell holds the calls that ended then and took so long. The colours are logarithmic, too.",
		}
		if len(runs) > 1 {
			m.Title += ": " + r.name
		}
		if !r.heated() {
			m.Empty = "This run kept no histograms by interval, so there is no heat map. Runs with -html, -ui or -o keep them."
			if r.doc.Running {
				m.Empty = "Nothing yet: no call has been measured."
			}
			out[i] = m
			continue
		}
		rows.draw(&m, columns[i], &x, full)
		m.Warm = math.Round(x.at(r.line.warm()))
		out[i] = m
	}
	return out
}

// rowsOf are the rows: row k holds the calls of 2^(k/per) nanoseconds or more.
type rowsOf struct {
	per     float64 // rows between a time and its double
	from, n int     // the first row and their number
	y       scale
}

func rowsFor(seen extent) *rowsOf {
	if seen.none() {
		seen = extent{1, 2}
	}
	for _, per := range []float64{8, 4, 3, 2, 1.5, 1} {
		from := int(math.Floor(math.Log2(seen.least)*per + 1e-9))
		to := int(math.Floor(math.Log2(seen.most)*per+1e-9)) + 1
		if n := to - from; n <= heatRows || per == 1 {
			r := &rowsOf{per: per, from: from, n: n}
			r.y = scale{from: r.bound(0), to: r.bound(n), log: true}
			r.y.decades()
			return r
		}
	}
	panic("page: unreachable: the last choice always fits") // per == 1 returns
}

// bound is the least latency of row i.
func (r *rowsOf) bound(i int) float64 { return math.Exp2(float64(r.from+i) / r.per) }

func (r *rowsOf) row(ns int64) int {
	i := int(math.Floor(math.Log2(float64(max(ns, 1)))*r.per+1e-9)) - r.from
	return min(max(i, 0), r.n-1)
}

// count sorts the calls of a timeline into columns and rows.
func (r *rowsOf) count(t *timeline) []column {
	join := (len(t.points) + heatColumns - 1) / heatColumns
	var out []column
	for i := range t.points {
		p := &t.points[i]
		if len(out) == 0 || i%join == 0 {
			out = append(out, column{start: p.start, calls: make([]int64, r.n)})
		}
		c := &out[len(out)-1]
		c.end = p.end()
		if p.kept.Response == nil {
			continue
		}
		p.kept.Response.ForEachBucket(func(ns, n int64) bool {
			c.calls[r.row(ns)] += n
			return true
		})
	}
	return out
}

// draw fills m. full is the calls a second of the cells of all maps.
func (r *rowsOf) draw(m *heatMap, columns []column, x *scale, full extent) {
	m.X, m.Y, m.Grid = x.ticks, r.y.ticks, grid(nil, r.y.ticks)
	height := float64(span) / float64(r.n)
	paths := make([]strings.Builder, heatLevels)
	var edges, heads, cells []string
	calls, fullest := int64(0), ""
	best := 0.0
	for _, c := range columns {
		left, right := x.at(c.start), x.at(c.end)
		edges, heads = append(edges, coordinate(right)), append(heads, moment(c.start, x.to)+" – "+moment(c.end, x.to))
		var column []string
		for i := 0; i < r.n; i++ {
			n := c.calls[i]
			if n == 0 {
				continue
			}
			calls += n
			column = append(column, strconv.Itoa(i)+":"+strconv.FormatInt(n, 10))
			rate := float64(n) / (c.end - c.start)
			if rate > best {
				best, fullest = rate, latency(r.bound(i)).String()+" to "+latency(r.bound(i+1)).String()
			}
			level := levelOf(rate, full)
			fmt.Fprintf(&paths[level], "M%s %sh%sv%sh%sz", coordinate(left), coordinate(span-float64(i+1)*height),
				coordinate(right-left), coordinate(height), coordinate(left-right))
		}
		cells = append(cells, strings.Join(column, ","))
	}
	var names []string
	for i := range r.n {
		names = append(names, latency(r.bound(i)).String()+" – "+latency(r.bound(i+1)).String())
	}
	for level := range paths {
		m.Levels = append(m.Levels, area{"h" + strconv.Itoa(level+1), paths[level].String()})
		m.Legend = append(m.Legend, shade{"k" + strconv.Itoa(level+1), "from " + perSecond(levelFrom(level, full)).String()})
	}
	m.Scale = perSecond(full.least).String() + " to " + perSecond(full.most).String() + " in a cell"
	m.Edges, m.Heads, m.Rows, m.Cells = strings.Join(edges, " "), strings.Join(heads, separator), strings.Join(names, separator), strings.Join(cells, separator)
	m.Summary = fmt.Sprintf("%s; most of them in the row from %s.", report.Counted(calls, "call"), fullest)
}

// levelOf is the colour of a cell with rate calls a second: equal steps of the
// logarithm between the emptiest cell that has any and the fullest.
func levelOf(rate float64, full extent) int {
	if !(full.most > full.least) {
		return heatLevels - 1
	}
	level := int(math.Floor(math.Log(rate/full.least)/math.Log(full.most/full.least)*heatLevels + 1e-9))
	return min(max(level, 0), heatLevels-1)
}

// levelFrom is the rate from which a cell has that colour.
func levelFrom(level int, full extent) float64 {
	return full.least * math.Pow(full.most/full.least, float64(level)/heatLevels)
}
