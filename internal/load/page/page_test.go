package page_test

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/internal/load/drive"
	"github.com/correlator-go/correlator/internal/load/page"
	"github.com/correlator-go/correlator/internal/load/report"
	"github.com/correlator-go/correlator/internal/load/tally"
)

func write(t testing.TB, runs ...page.Run) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, page.Write(&b, runs...))
	return b.String()
}

// has does not print what it searched, which is a whole page.
func has(t testing.TB, html, want string, say ...any) {
	t.Helper()
	require.True(t, strings.Contains(html, want), "no %q in the page %v", want, say)
}

func hasNot(t testing.TB, html, bad string, say ...any) {
	t.Helper()
	require.False(t, strings.Contains(html, bad), "%q in the page %v", bad, say)
}

var fast = sample{seconds: 12, calls: 500, typical: 800 * time.Microsecond, seed: 1, errors: true}

// figureOf is the element with that id, up to its end.
func figureOf(t testing.TB, html, id string) string {
	t.Helper()
	from := strings.Index(html, `id="`+id+`"`)
	require.Positive(t, from, "no %s", id)
	return html[from : from+strings.Index(html[from:], "</figure>")]
}

var lineOf = regexp.MustCompile(`<path class="line[^"]*" d="([^"]*)" data-name="([^"]*)" data-ys="([^"]*)" data-values="([^"]*)"/>`)

func TestPageShowsEverythingAsked(t *testing.T) {
	html := write(t, page.Run{Name: "run", Doc: fast.document(t)})
	for id, lines := range map[string][]string{
		"percentiles": {"response", "service"}, "rate": {"answered", "sent"}, "latency": {"p50", "p99", "p99.9"},
		"in-flight": {"in flight"}, "errors": {"error", "timeout"}, "behind": {"sent behind their time"},
	} {
		drawn := lineOf.FindAllStringSubmatch(figureOf(t, html, id), -1)
		var names []string
		for _, l := range drawn {
			names = append(names, l[2])
			plausible(t, l[1])
		}
		require.Equal(t, lines, names, id)
	}
	heat := figureOf(t, html, "heat-a")
	require.Greater(t, strings.Count(heat, `<path class="h`), 3, "colours")
	for _, said := range []string{
		"p99&lt;5ms", "✗ missed", "✓ met", "1 of 2 goals missed", "every call accounted for", "unix:/run/echo.sock", "go1.26.8",
		"loadgen -rate 2k -slo &#39;p99&lt;5ms,error&lt;1%&#39;", "Some CPU @ 3 GHz", "30 November 2026",
	} {
		has(t, html, said)
	}
}

// plausible checks that a path has several points, all of them inside the drawing.
func plausible(t testing.TB, path string) {
	t.Helper()
	points := regexp.MustCompile(`[ML](-?[\d.]+) (-?[\d.]+)`).FindAllStringSubmatch(path, -1)
	require.Greater(t, len(points), 5, path)
	for _, p := range points {
		for _, text := range p[1:] {
			v, err := strconv.ParseFloat(text, 64)
			require.NoError(t, err)
			require.True(t, v >= 0 && v <= 1000, path)
		}
	}
}

// The curve of the whole run goes up, as percentiles do, and says the same as the
// summary.
func TestPercentilesRise(t *testing.T) {
	d := fast.document(t)
	figure := figureOf(t, write(t, page.Run{Name: "run", Doc: d}), "percentiles")
	heads := strings.Split(regexp.MustCompile(`data-heads="([^"]*)"`).FindStringSubmatch(figure)[1], "|")
	for _, l := range lineOf.FindAllStringSubmatch(figure, -1) {
		last := 1001.0
		ys := strings.Fields(l[3])
		require.Len(t, ys, len(heads))
		for _, y := range ys {
			if y == "-" {
				continue
			}
			v, err := strconv.ParseFloat(y, 64)
			require.NoError(t, err)
			require.LessOrEqual(t, v, last)
			last = v
		}
	}
	at := func(head string) string {
		for i, h := range heads {
			if h == head {
				return strings.Split(lineOf.FindStringSubmatch(figure)[4], "|")[i]
			}
		}
		return ""
	}
	require.Equal(t, milliseconds(d.Latency.Response.P99), at("99%"))
	require.Equal(t, milliseconds(d.Latency.Response.P999), at("99.9%"))
}

func milliseconds(ns int64) string {
	return strconv.FormatFloat(float64(ns)/1e6, 'f', 0, 64) + "\u00a0ms"
}

func TestTwoRunsAreLaidOver(t *testing.T) {
	a, b := fast.document(t), sample{seconds: 15, calls: 900, typical: 500 * time.Microsecond, seed: 2}.document(t)
	b.SLO = append(b.SLO, report.SLO{Goal: "rate>=100", Text: "900/s", Pass: true})
	html := write(t, page.Run{Name: "main", Doc: a}, page.Run{Name: "tuned", Doc: b})
	for _, id := range []string{"rate", "p50", "p99", "p99.9", "in-flight", "errors"} {
		drawn := lineOf.FindAllStringSubmatch(figureOf(t, html, id), -1)
		require.Len(t, drawn, 2, id)
		require.Equal(t, []string{"main", "tuned"}, []string{drawn[0][2], drawn[1][2]})
		require.Equal(t, strings.Count(drawn[0][4], "|"), strings.Count(drawn[1][4], "|"), "both are read at the same times")
	}
	require.Len(t, lineOf.FindAllString(figureOf(t, html, "percentiles"), -1), 4)
	figureOf(t, html, "heat-a")
	figureOf(t, html, "heat-b")
	has(t, html, "main and tuned")
	has(t, html, "&#43;80.0", "the difference of the rates")
	require.Equal(t, 1, strings.Count(html, `<th scope="row">p99&lt;5ms</th>`), "a goal stands once")
}

// One file that asks for nothing: no address, no reference to another file.
func TestPageIsSelfContained(t *testing.T) {
	html := write(t, page.Run{Name: "run", Doc: fast.document(t)})
	require.NotRegexp(t, `(?i)https?://|@import|url\(|\ssrc=|<link[^>]*href="[^d]`, html)
	has(t, html, "default-src &#39;none&#39;")
	hasNot(t, html, "connect-src")
	hasNot(t, html, "EventSource", "a finished page has no buttons and no stream")
}

// Whatever a target, a server or somebody's file says is text and stays text.
func TestHostileTextIsEscaped(t *testing.T) {
	const evil = "</script></style></title>-->\"'><script>alert(1)</script><img src=x onerror=alert(1)>{{.}}|\u2028\x00"
	a := fast.document(t)
	c := &a.Config
	c.Args, c.Target, c.Loop, c.Schedule, c.Mode, c.End, c.Framing = []string{evil, "-args", `{"a":"</script>"}`}, evil, "open", evil, evil, evil, evil
	c.Method, c.Payload, c.MCP, c.Peer, c.Faults = evil, evil, evil, evil, evil
	a.Tool = report.Tool{Name: evil, Version: evil, Go: evil, OS: evil, Arch: evil, CPU: evil}
	a.Began, a.Error, a.Notes, a.Problems = evil, evil, []string{evil}, []string{evil}
	a.SLO = []report.SLO{{Goal: evil, Text: evil}}
	a.Events = []drive.Event{{At: 3, Text: evil}}
	a.Connections = []report.Part{{Name: evil}}
	a.Mix = []report.Part{{Name: evil}}
	for _, html := range []string{write(t, page.Run{Name: evil, Doc: a}), write(t, page.Run{Name: evil, Doc: a}, page.Run{Name: evil, Doc: a})} {
		require.Equal(t, 1, strings.Count(html, "<script>"), "the page's own")
		require.Equal(t, 1, strings.Count(html, "</script>"))
		require.Equal(t, 1, strings.Count(html, "</style>"))
		require.Equal(t, 1, strings.Count(html, "</title>"))
		hasNot(t, html, "<img")
		hasNot(t, html, "ZgotmplZ")
	}
}

func TestPageOfLittle(t *testing.T) {
	for name, d := range map[string]*report.Document{
		"nothing": {}, "no interval": {Config: report.Config{Method: "echo", Target: "pipe:echo"}},
		"odd intervals": {Intervals: []report.Interval{{}, {Row: tally.Row{Start: -1, Length: 1}}, {Row: tally.Row{Start: 1, Length: 1e308}}, {Row: tally.Row{Start: 1e308, Length: 1e308}}}},
	} {
		html := write(t, page.Run{Name: name, Doc: d})
		has(t, html, "no latency to show", name)
		hasNot(t, html, "NaN", name)
		hasNot(t, html, "Inf", name)
	}
	one := fast
	one.seconds = 1
	html := write(t, page.Run{Name: "one second", Doc: one.document(t)})
	require.Regexp(t, `d="M[\d. ]+m-[\d.]+ 0h[\d.]+"`, figureOf(t, html, "latency"), "a lone point is drawn as long as it took")
	bare := fast
	bare.bare = true
	html = write(t, page.Run{Name: "bare", Doc: bare.document(t)})
	has(t, figureOf(t, html, "heat-a"), "kept no histograms")
	require.Len(t, lineOf.FindAllString(figureOf(t, html, "latency"), -1), 3, "the figures stand in the intervals")
}

func TestWriteRefuses(t *testing.T) {
	require.Error(t, page.Write(&bytes.Buffer{}))
	d := fast.document(t)
	run := page.Run{Name: "mine", Doc: d}
	require.Error(t, page.Write(&bytes.Buffer{}, run, run, run))
	d.Intervals[3].Response.Histogram = "no histogram"
	require.ErrorContains(t, page.Write(&bytes.Buffer{}, run), "mine: interval 3: response times")
	d.Latency.Service.Histogram = "HIST"
	require.ErrorContains(t, page.Write(&bytes.Buffer{}, run), "mine: latency.service")
}

// A page of a day is about as large as one of minutes.
func TestLongRunsAreJoined(t *testing.T) {
	lasting := func(seconds int) *report.Document {
		d := &report.Document{}
		for i := range seconds {
			row := tally.Row{Start: float64(i), Length: 1, Sent: 2, Ends: tally.Ends{OK: 2}, Response: tally.Summary{Count: 2, P50: 1000, P99: int64(2000 + i%50), P999: 3000}}
			d.Intervals = append(d.Intervals, report.Interval{Row: row, Response: report.Distribution{Summary: row.Response}})
		}
		return d
	}
	short, long := lasting(100), lasting(5000)
	small, large := write(t, page.Run{Name: "short", Doc: short}), write(t, page.Run{Name: "long", Doc: long})
	require.Less(t, len(large), 4*len(small))
	xs := regexp.MustCompile(`data-xs="([^"]*)"`).FindStringSubmatch(figureOf(t, large, "rate"))[1]
	require.InDelta(t, 360, len(strings.Fields(xs)), 121)
	require.Len(t, regexp.MustCompile(`\S+`).FindAllString(xs, -1), strings.Count(regexp.MustCompile(`data-heads="([^"]*)"`).FindStringSubmatch(figureOf(t, large, "rate"))[1], "|")+1)
	has(t, large, "1:15:00", "the clock's labels")
}

// The moment between the last whole second and the end of a run is no point of its
// own: two calls in 5 ms are no 400 calls a second.
func TestTheRestOfASecondIsNoSpike(t *testing.T) {
	d := &report.Document{}
	for i := range 4 {
		d.Intervals = append(d.Intervals, report.Interval{Row: tally.Row{Start: float64(i), Length: 1, Ends: tally.Ends{OK: 100}}})
	}
	d.Intervals = append(d.Intervals, report.Interval{Row: tally.Row{Start: 4, Length: 0.005, Ends: tally.Ends{OK: 2}}})
	values := lineOf.FindStringSubmatch(figureOf(t, write(t, page.Run{Name: "run", Doc: d}), "rate"))[4]
	require.Equal(t, "100/s|100/s|100/s|101/s", values)
}
