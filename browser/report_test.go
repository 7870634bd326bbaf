package browser_test

import (
	_ "embed"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"
)

//go:embed audit.js
var auditScript string

// audit is what audit.js finds.
type audit struct {
	Found  []string  `json:"found"`
	Lines  int       `json:"lines"`
	Cells  int       `json:"cells"`
	Texts  int       `json:"texts"`
	Least  float64   `json:"least"`  // contrast of any text
	Shades []float64 `json:"shades"` // contrast of the ends of the heat map's scale
	Paper  float64   `json:"paper"`  // how light the page is, 0 to 1
}

// runs are two saved runs, made once: an open loop that stalls and misses a goal,
// and a faster one over several connections.
var runs = sync.OnceValues(func() ([]string, error) {
	dir, err := os.MkdirTemp(filepath.Dir(loadgenPath), "runs")
	if err != nil {
		return nil, err
	}
	stalling, steady := filepath.Join(dir, "stalling.json"), filepath.Join(dir, "steady.json")
	for _, args := range [][]string{
		{"-rate", "3k", "-d", "3s", "-warmup", "500ms", "-delay", "lognormal:2ms,0.6", "-stall-read", "300ms@2s", "-blackhole", "0.05%", "-timeout", "700ms",
			"-slo", "p99<5ms,error<1%,rate>=2000,service.p50<10ms", "-c", "256", "-quiet", "-o", stalling},
		{"-rate", "4k", "-d", "4s", "-conns", "3", "-delay", "lognormal:1ms,0.3", "-slo", "p99<5s", "-quiet", "-o", steady},
	} {
		if out, err := exec.Command(loadgenPath, args...).CombinedOutput(); err != nil {
			if e, ok := err.(*exec.ExitError); !ok || e.ExitCode() != 3 { // a goal is missed on purpose
				return nil, &exec.Error{Name: string(out), Err: err}
			}
		}
	}
	return []string{stalling, steady}, nil
})

// report makes a page of saved runs and returns its address.
func report(t *testing.T, files ...string) string {
	t.Helper()
	html := filepath.Join(t.TempDir(), "report.html")
	out, err := exec.Command(loadgenPath, append([]string{"report", "-html", html}, files...)...).CombinedOutput()
	require.NoError(t, err, string(out))
	return (&url.URL{Scheme: "file", Path: filepath.ToSlash(html)}).String()
}

func saved(t *testing.T) []string {
	t.Helper()
	files, err := runs()
	require.NoError(t, err)
	return files
}

func TestReport(t *testing.T) {
	need(t)
	for name, files := range map[string][]string{"one": saved(t)[:1], "two": saved(t)} {
		address := report(t, files...)
		for _, s := range screens {
			t.Run(name+" "+s.String(), func(t *testing.T) {
				p := open(t, address, s)
				found := eval[audit](p, auditScript)
				require.Empty(t, found.Found)
				require.GreaterOrEqual(t, found.Lines, 10)
				require.Greater(t, found.Cells, 30)
				require.Greater(t, found.Texts, 100)
				require.Equal(t, s.dark, found.Paper < 0.2, "light of the page: %v", found.Paper)
				require.NotEmpty(t, found.Shades)
				require.Equal(t, []string{address}, p.quiet(), "nothing but the file is asked for")
				p.shot("report " + name + " " + s.String())
			})
		}
	}
}

// Mail programs and careful people run no scripts: everything but the readout is
// there all the same.
func TestReportWithoutScripts(t *testing.T) {
	need(t)
	p := open(t, "about:blank", screens[0])
	call(p, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	p.run(chromedp.Navigate(report(t, saved(t)...)))
	found := eval[audit](p, auditScript)
	require.Empty(t, found.Found)
	require.GreaterOrEqual(t, found.Lines, 10)
	require.Greater(t, found.Cells, 30)
	require.False(t, eval[bool](p, `"redraw" in window`), "the page's own did not run")
}

// The pointer and the arrow keys read the charts.
func TestReadout(t *testing.T) {
	need(t)
	address := report(t, saved(t)...)
	for _, s := range []screen{screens[0], screens[3]} {
		t.Run(s.String(), func(t *testing.T) {
			p := open(t, address, s)
			for _, id := range []string{"percentiles", "p99", "errors", "heat-a"} {
				area := "#" + id + " .area"
				p.run(chromedp.ScrollIntoView(chromedp.CSS(area)))
				for _, share := range []float64{0.02, 0.98, 0.5} { // the ends too: it must not leave the screen
					at := eval[[]float64](p, `(() => { const r = document.querySelector("`+area+`").getBoundingClientRect(); return [r.left, r.top, r.width, r.height]; })()`)
					p.run(chromedp.MouseEvent("mouseMoved", at[0]+at[2]*share, at[1]+at[3]/2))
					p.until(`document.querySelector("` + area + `.reading .readout").innerText.length > 10`)
					require.Empty(t, eval[audit](p, auditScript).Found)
				}
				said := eval[string](p, `document.querySelector("`+area+` .readout").innerText`)
				require.Regexp(t, `\d`, said)
				if id != "heat-a" {
					require.Contains(t, said, "stalling")
					require.Contains(t, said, "steady")
					require.NotZero(t, eval[int](p, `document.querySelectorAll(".dot").length`))
				}
				p.glance("readout " + id + " " + s.String())
				p.run(chromedp.MouseEvent("mouseMoved", 2, 2))
				p.until(`!document.querySelector(".reading")`)
				p.run(chromedp.Focus(chromedp.CSS(area)), chromedp.KeyEvent(kb.ArrowRight))
				first := eval[string](p, `document.querySelector("`+area+` .readout b").innerText`)
				p.run(chromedp.KeyEvent(kb.ArrowRight), chromedp.KeyEvent(kb.ArrowRight))
				require.NotEqual(t, first, eval[string](p, `document.querySelector("`+area+` .readout b").innerText`))
				p.run(chromedp.KeyEvent(kb.Escape))
				require.Zero(t, eval[int](p, `document.querySelectorAll(".reading").length`))
			}
			p.quiet()
		})
	}
}

// Text that tries to be a program stays text.
func TestHostileReport(t *testing.T) {
	const evil = `</script></title><script>document.body.id="owned"</script><img src="http://192.0.2.1/x" onerror="document.body.id='owned'">`
	need(t)
	file := filepath.Join(t.TempDir(), "run.json")
	out, err := exec.Command(loadgenPath, "-n", "500", "-method", evil, "-quiet", "-o", file).CombinedOutput()
	require.NoError(t, err, string(out))
	address := report(t, file)
	p := open(t, address, screens[0])
	require.Contains(t, eval[string](p, `document.querySelector("h1").textContent`), evil)
	require.Zero(t, eval[int](p, `document.images.length + document.querySelectorAll("main script, header script").length`))
	require.Empty(t, eval[string](p, `document.body.id`))
	require.Empty(t, eval[audit](p, auditScript).Found, "long words break")
	require.Equal(t, []string{address}, p.quiet())
}
