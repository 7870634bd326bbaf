package browser_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// bound is far beyond what anything here takes.
const bound = time.Minute

// loadgenPath and gatewayPath are the programs under test, chromePath the browser, "" if
// there is none.
var loadgenPath, gatewayPath, chromePath string

// running says that the browser was started.
var running bool

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "loadgen-browser")
	if err != nil {
		panic(err)
	}
	loadgenPath = filepath.Join(dir, "loadgen.exe")
	gatewayPath = filepath.Join(dir, "gateway.exe")
	for path, module := range map[string]string{loadgenPath: "..", gatewayPath: "../gateway"} {
		build := exec.Command("go", "build", "-o", path, "./cmd/"+strings.TrimSuffix(filepath.Base(path), ".exe"))
		build.Dir = module
		if out, err := build.CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "building %s: %v\n%s", path, err, out)
			os.Exit(1)
		}
	}
	chromePath = findChrome()
	code := m.Run()
	if running {
		_ = chromedp.Cancel(chrome()) // waits for the browser to go
	}
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

func findChrome() string {
	names := []string{os.Getenv("CORRELATOR_BROWSER")}
	if text, err := os.ReadFile("../.browser/path"); err == nil {
		names = append(names, strings.TrimSpace(string(text)))
	}
	for _, name := range append(names, "chromium", "chromium-browser", "google-chrome", "google-chrome-stable") {
		if name == "" {
			continue
		}
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

// screen is what a page is looked at with.
type screen struct {
	width, height int64
	dark          bool
}

func (s screen) String() string {
	if s.dark {
		return fmt.Sprintf("%d dark", s.width)
	}
	return fmt.Sprintf("%d light", s.width)
}

var screens = []screen{{400, 860, false}, {400, 860, true}, {1400, 900, false}, {1400, 900, true}}

// tab is a page that is open in the browser.
type tab struct {
	t   *testing.T
	ctx context.Context

	mu       sync.Mutex // protects the fields below
	said     []string   // on the console, and what was thrown
	requests []string   // every address that was asked for
}

// chrome is the browser that all tests share, each with a tab of its own.
var chrome = sync.OnceValue(func() context.Context {
	options := append([]chromedp.ExecAllocatorOption{}, chromedp.DefaultExecAllocatorOptions[:]...)
	options = append(options, chromedp.ExecPath(chromePath), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.UserDataDir(filepath.Join(filepath.Dir(loadgenPath), "profile")),
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true), chromedp.WSURLReadTimeout(bound))
	ctx, _ := chromedp.NewExecAllocator(context.Background(), options...) // ends with the process, see TestMain
	ctx, _ = chromedp.NewContext(ctx)
	running = true
	return ctx
})

// need skips a test where there is no browser, or fails it where one must be.
func need(t *testing.T) {
	t.Helper()
	if chromePath != "" {
		return
	}
	const how = "no browser: `make browser` finds or installs one"
	if os.Getenv("CORRELATOR_REQUIRE_BROWSER") != "" {
		t.Fatal(how)
	}
	t.Skip(how)
}

// open opens an address in a tab of its own, which the end of the test closes.
func open(t *testing.T, address string, s screen) *tab {
	t.Helper()
	need(t)
	require.NoError(t, chromedp.Do(chrome())) // it runs
	ctx, cancel := context.WithTimeout(chrome(), 2*bound)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	p := &tab{t: t, ctx: ctx}
	scheme := "light"
	if s.dark {
		scheme = "dark"
	}
	require.NoError(t, chromedp.Listen(ctx, p.listen))
	call(p, network.Enable, network.EnableParams{})
	call(p, log.Enable, cdp.Empty{})
	call(p, runtime.Enable, cdp.Empty{})
	call(p, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: s.width, Height: s.height, DeviceScaleFactor: 1, Mobile: s.width < 600})
	call(p, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
	p.run(chromedp.Navigate(address)) // returns when it is loaded
	return p
}

// call runs a command of the protocol.
func call[P, R any](p *tab, command cdp.Command[P, R], params P) {
	p.t.Helper()
	_, err := chromedp.Call(p.ctx, command, params)
	require.NoError(p.t, err)
}

func (p *tab) listen(event any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventConsoleAPICalled:
		for _, a := range e.Args {
			p.said = append(p.said, string(e.Type)+": "+string(a.Value)+a.Description)
		}
	case *runtime.EventExceptionThrown:
		p.said = append(p.said, fmt.Sprintf("thrown: %+v", e.ExceptionDetails))
	case *log.EventEntryAdded:
		p.said = append(p.said, string(e.Entry.Level)+": "+e.Entry.Text+" "+e.Entry.URL)
	case *network.EventRequestWillBeSent:
		if !strings.HasPrefix(e.Request.URL, "data:") {
			p.requests = append(p.requests, e.Request.URL)
		}
	}
}

// quiet checks that nothing was said on the console, and returns what was asked for.
func (p *tab) quiet() []string {
	p.t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	require.Empty(p.t, p.said, "on the console")
	return append([]string{}, p.requests...)
}

func (p *tab) run(actions ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	require.NoError(p.t, chromedp.Do(p.ctx, actions...))
}

// eval runs script in the page and returns what it gives.
func eval[T any](p *tab, script string) T {
	p.t.Helper()
	out, err := chromedp.Run(p.ctx, chromedp.Evaluate[T](script, chromedp.EvalAwaitPromise))
	require.NoError(p.t, err, script[:min(len(script), 100)])
	return out
}

// until waits for a condition of the page.
func (p *tab) until(condition string) {
	p.t.Helper()
	said := eval[string](p, `new Promise((done) => {
		const began = performance.now();
		const look = () => {
			if (`+condition+`) return done("");
			if (performance.now() - began > 30000) return done("it is not so; the bar says: " + (document.querySelector(".state") || document.body).innerText.slice(0, 200));
			setTimeout(look, 20);
		};
		look();
	})`)
	require.Empty(p.t, said, condition)
}

// shot leaves a picture of the whole page where they are wanted, glance one of what
// is on the screen.
func (p *tab) shot(name string)   { p.picture(name, chromedp.FullScreenshot(100)) }
func (p *tab) glance(name string) { p.picture(name, chromedp.CaptureScreenshot()) }

func (p *tab) picture(name string, how chromedp.Action[[]byte]) {
	p.t.Helper()
	dir := os.Getenv("CORRELATOR_SHOTS")
	if dir == "" {
		return
	}
	png, err := chromedp.Run(p.ctx, how)
	require.NoError(p.t, err)
	require.NoError(p.t, os.WriteFile(filepath.Join(dir, strings.ReplaceAll(name, " ", "-")+".png"), png, 0o600))
}
