package page

import (
	"math"
	"strings"
)

// chart is one drawing with its axes, for the template of the same name.
type chart struct {
	ID, Title string
	Note      string // what the axes are, in words
	Summary   string // the drawing in words, for who does not see it
	Size      string // "tall" and "wide" take the whole width, "" half of it
	X, Y      []tick
	Grid      string  // path of the grid
	Warm      float64 // where the warm-up ends, 0 for none
	Marks     string  // path of what was done to the run while it went on
	Areas     []area
	Lines     []stroke
	// Xs is where the readout stops, Heads what it says there, and the values of
	// the lines are parallel to both.
	Xs, Heads string
	Empty     string // is said instead of a drawing
}

// stroke is one line of a chart and of its legend.
type stroke struct {
	Name, Class string // Class names its colour and dashes
	Path        string
	Ys, Values  string // at each of the chart's Xs; "-" where there is none
}

// area is what a line has below it.
type area struct{ Class, Path string }

// separator stands between the values of a readout; no figure has one.
const separator = "|"

// trace is a line while it is gathered.
type trace struct {
	name, class string
	path        strings.Builder
	below       strings.Builder
	open        bool    // the pen is down
	alone       bool    // the segment is one point so far
	reach       float64 // half of the width that its last point stands for
	ys, values  []string
}

// to draws to a point; x and y are in the drawing, half is half of the width
// that the point stands for, which is drawn if it has no neighbour.
func (t *trace) to(x, y, half float64, value string) {
	if !t.open {
		t.path.WriteString("M" + coordinate(x) + " " + coordinate(y))
		t.below.WriteString("M" + coordinate(x) + " 1000V" + coordinate(y))
		t.open, t.alone = true, true
	} else {
		t.path.WriteString("L" + coordinate(x) + " " + coordinate(y))
		t.below.WriteString("L" + coordinate(x) + " " + coordinate(y))
		t.alone = false
	}
	t.reach = half
	t.ys, t.values = append(t.ys, coordinate(y)), append(t.values, value)
}

// gap is a point without a value.
func (t *trace) gap() {
	t.lift()
	t.ys, t.values = append(t.ys, "-"), append(t.values, "–")
}

func (t *trace) lift() {
	if !t.open {
		return
	}
	if t.alone {
		t.path.WriteString("m" + coordinate(-t.reach) + " 0h" + coordinate(2*t.reach))
	}
	t.below.WriteString("V1000Z")
	t.open = false
}

func (t *trace) stroke() stroke {
	t.lift()
	return stroke{t.name, t.class, t.path.String(), strings.Join(t.ys, " "), strings.Join(t.values, separator)}
}

// grid draws a line for each label.
func grid(x, y []tick) string {
	var b strings.Builder
	for _, t := range x {
		b.WriteString("M" + coordinate(t.At*10) + " 0v1000")
	}
	for _, t := range y {
		b.WriteString("M0 " + coordinate(span-t.At*10) + "h1000")
	}
	return b.String()
}

// extent gathers the least and the most of what a scale has to hold.
type extent struct{ least, most float64 }

func (e *extent) add(v float64) {
	if !(v > 0) || math.IsInf(v, 0) {
		return
	}
	if e.most == 0 || v < e.least {
		e.least = v
	}
	e.most = max(e.most, v)
}

func (e *extent) none() bool { return e.most == 0 }
