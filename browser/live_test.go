package browser_test

import (
	"bufio"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// live starts a run with -ui. wait is for its end and gives its exit code.
func live(t *testing.T, args ...string) (address string, wait func() int) {
	t.Helper()
	c := exec.Command(loadgenPath, append(args, "-ui", "127.0.0.1:0")...)
	errs, err := c.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, c.Start())
	t.Cleanup(func() { _ = c.Process.Kill() })
	lines := bufio.NewReader(errs)
	for address == "" {
		line, err := lines.ReadString('\n')
		require.NoError(t, err)
		address = regexp.MustCompile(`http://\S+`).FindString(line)
	}
	return address, func() int {
		_, _ = io.Copy(io.Discard, lines)
		_ = c.Wait() // its exit code is what is asked for
		return c.ProcessState.ExitCode()
	}
}

func press(button string) chromedp.Action[chromedp.Void] {
	return chromedp.Click(chromedp.CSS("#" + button))
}

const state = `document.getElementById("state").textContent`

func TestLivePage(t *testing.T) {
	for _, s := range screens {
		t.Run(s.String(), func(t *testing.T) {
			need(t)
			address, wait := live(t, "-rate", "2k", "-d", "10m", "-warmup", "200ms", "-delay", "exp:1ms")
			p := open(t, address, s)
			p.until(state + ` === "Running" && document.querySelectorAll(".plot path.line").length > 5`)
			const drawn = `document.querySelector("#latency .plot path.line").getAttribute("d")`
			before := eval[string](p, drawn)
			p.until(drawn + ` !== ` + quote(before)) // it moves on its own
			p.until(`document.querySelectorAll("#heat-a path").length > 3`)
			require.Empty(t, eval[audit](p, auditScript).Found)
			p.shot("live " + s.String())

			p.run(press("pause"))
			p.until(state + ` === "Paused" && document.getElementById("pause").textContent === "Resume"`)
			p.run(press("pause"))
			p.until(state + ` === "Running"`)
			p.run(press("faster"))
			p.until(`document.getElementById("detail").textContent.includes("rate × 1.1")`)
			p.run(press("slower"))
			p.until(`document.getElementById("detail").textContent.includes("rate × 0.99")`)
			p.until(`document.querySelector("main").textContent.includes("paused")`) // what was done is listed
			require.Empty(t, eval[audit](p, auditScript).Found)

			// A readout stays while the page is drawn anew.
			at := eval[[]float64](p, `(() => { const e = document.querySelector("#percentiles .area"); e.scrollIntoView({block: "center"}); const r = e.getBoundingClientRect(); return [r.left, r.top, r.width, r.height]; })()`)
			p.run(chromedp.MouseEvent("mouseMoved", at[0]+at[2]/2, at[1]+at[3]/2))
			p.until(`!!document.querySelector("#percentiles .area.reading")`)
			before = eval[string](p, drawn)
			p.until(drawn + ` !== ` + quote(before) + ` && !!document.querySelector("#percentiles .area.reading")`)

			p.run(press("stop"))
			p.until(state + ` === "Ended"`)
			require.Zero(t, wait(), "a stopped run is a whole run")
			require.Equal(t, 4, eval[int](p, `document.querySelectorAll("button:disabled").length`))
			require.Contains(t, eval[string](p, `document.querySelector(".verdicts").textContent`), "every call accounted for")
			require.Empty(t, eval[audit](p, auditScript).Found)
			base, _, _ := strings.Cut(address, "?")
			for _, asked := range p.quiet() {
				require.True(t, strings.HasPrefix(asked, base), asked)
			}
			p.shot("ended " + s.String())
		})
	}
}

func TestClosedLoopHasNoRate(t *testing.T) {
	need(t)
	address, wait := live(t, "-c", "4", "-d", "10m", "-delay", "const:1ms")
	p := open(t, address, screens[0])
	p.until(state + ` === "Running"`)
	require.True(t, eval[bool](p, `document.getElementById("faster").disabled && document.getElementById("slower").disabled`))
	require.False(t, eval[bool](p, `document.getElementById("pause").disabled || document.getElementById("stop").disabled`))
	p.run(press("stop"))
	p.until(state + ` === "Ended"`)
	require.Zero(t, wait())
	p.quiet()
}

// A page of another site, even one that learnt the token, can neither stop the run
// nor look at it.
func TestOtherSitesCannotPress(t *testing.T) {
	need(t)
	address, wait := live(t, "-rate", "1k", "-d", "10m")
	base, token, _ := strings.Cut(address, "?token=")
	foreign := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `<!doctype html><div id="report"></div><iframe id="frame" src="`+address+`"></iframe>`)
	}))
	defer foreign.Close()
	p := open(t, foreign.URL, screens[0])
	tried := eval[[]string](p, `(async () => {
		const out = [];
		const attempt = async (name, how) => { try { const r = await how(); out.push(name + ": " + r); } catch (e) { out.push(name + ": refused"); } };
		const post = (o) => fetch("`+base+`control", { method: "POST", body: "stop", ...o }).then((r) => r.type + r.status);
		await attempt("plain", () => post({}));
		await attempt("blind", () => post({ mode: "no-cors" }));
		await attempt("with the token", () => post({ headers: { "X-Loadgen-Token": "`+token+`" } }));
		await attempt("read", () => fetch("`+address+`").then((r) => r.text()));
		document.body.insertAdjacentHTML("beforeend", '<form method="post" target="nowhere" action="`+base+`control?token=`+token+`" enctype="text/plain"><input name="stop"></form><iframe name="nowhere"></iframe>');
		document.forms[0].submit();
		return out;
	})()`)
	require.Equal(t, []string{"plain: refused", "blind: refused", "with the token: refused", "read: refused"}, tried)

	own := open(t, address, screens[2])
	own.until(state + ` === "Running"`)
	require.False(t, eval[bool](own, `document.getElementById("stop").disabled`))
	own.run(press("stop"))
	own.until(state + ` === "Ended"`)
	require.Zero(t, wait())
	own.quiet()
}

func quote(text string) string { return `"` + text + `"` }
