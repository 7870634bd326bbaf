package panel_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/url"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/internal/load/drive"
	"github.com/correlator-go/correlator/internal/load/page"
	"github.com/correlator-go/correlator/internal/load/panel"
	"github.com/correlator-go/correlator/internal/load/report"
	"github.com/correlator-go/correlator/internal/load/tally"
)

// bound is far beyond what anything here takes.
const bound = 20 * time.Second

type served struct {
	*panel.Panel
	live    *report.Live
	control *drive.Control
	address *url.URL
	client  *http.Client
	done    chan error
}

// serve is a panel that listens, and is closed at the end of the test with nothing
// of it left.
func serve(t *testing.T) *served {
	t.Helper()
	before := runtime.NumGoroutine()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	s := &served{live: report.NewLive(report.Config{Method: "echo", Target: "pipe:echo", Loop: "open"}, ""), control: new(drive.Control), done: make(chan error, 1)}
	s.Panel = panel.New(s.live, s.control)
	s.address, err = url.Parse(s.Address(l.Addr()))
	require.NoError(t, err)
	s.client = &http.Client{Transport: &http.Transport{}}
	go func() { s.done <- s.Serve(l) }()
	t.Cleanup(func() {
		s.close(t)
		s.client.CloseIdleConnections()
		for deadline := time.Now().Add(bound); runtime.NumGoroutine() > before; runtime.Gosched() {
			require.True(t, time.Now().Before(deadline), "goroutines are left")
		}
	})
	return s
}

func (s *served) close(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), bound)
	defer cancel()
	require.NoError(t, s.Close(ctx))
	if s.done != nil {
		require.NoError(t, <-s.done)
		s.done = nil
	}
}

// ask sends a request; edit may change it first.
func (s *served) ask(t *testing.T, method, path, body string, edit func(*http.Request)) *http.Response {
	t.Helper()
	r, err := http.NewRequest(method, "http://"+s.address.Host+path, strings.NewReader(body))
	require.NoError(t, err)
	if edit != nil {
		edit(r)
	}
	answer, err := s.client.Do(r)
	require.NoError(t, err)
	t.Cleanup(func() { _ = answer.Body.Close() })
	return answer
}

func (s *served) token() string { return s.address.Query().Get("token") }

func (s *served) press(t *testing.T, button string) int {
	t.Helper()
	a := s.ask(t, "POST", "/control", button, func(r *http.Request) { r.Header.Set("X-Loadgen-Token", s.token()) })
	return a.StatusCode
}

// events reads the stream.
func (s *served) events(t *testing.T) func() (page.Frame, error) {
	t.Helper()
	a := s.ask(t, "GET", "/events?token="+s.token(), "", nil)
	require.Equal(t, 200, a.StatusCode)
	require.Equal(t, "text/event-stream", a.Header.Get("Content-Type"))
	lines := bufio.NewReader(a.Body)
	return func() (f page.Frame, err error) {
		for {
			line, err := lines.ReadString('\n')
			if err != nil {
				return f, err
			}
			if data, ok := strings.CutPrefix(line, "data: "); ok {
				return f, json.Unmarshal([]byte(data), &f)
			}
		}
	}
}

func row(n int) tally.Row {
	return tally.Row{Start: float64(n), Length: 1, Sent: 100, Ends: tally.Ends{OK: 100}, Response: tally.Summary{Count: 100, P50: 1000, P99: 2000, P999: 3000}}
}

func TestStreamFollowsTheRun(t *testing.T) {
	s := serve(t)
	a := s.ask(t, "GET", "/?token="+s.token(), "", nil)
	body, err := io.ReadAll(a.Body)
	require.NoError(t, err)
	require.Equal(t, 200, a.StatusCode)
	require.True(t, strings.Contains(string(body), `id="pause"`))
	require.Contains(t, a.Header.Get("Content-Security-Policy"), "frame-ancestors 'none'")
	require.NotContains(t, string(body), s.token(), "the page itself does not hold it")

	next := s.events(t)
	f, err := next()
	require.NoError(t, err)
	require.Equal(t, "Starting", f.State)
	s.live.Row(row(0))
	f, err = next()
	require.NoError(t, err)
	require.Equal(t, "Running", f.State)
	s.live.Event(drive.Event{At: 1, Text: "paused", Steering: drive.Steering{Paused: true, Factor: 1}})
	f, err = next()
	require.NoError(t, err)
	require.True(t, f.Paused)
	s.live.End(&report.Document{})
	f, err = next()
	require.NoError(t, err)
	require.True(t, f.Over)
	_, err = next()
	require.ErrorIs(t, err, io.EOF, "the stream ends with the run")
}

func TestButtons(t *testing.T) {
	s := serve(t)
	require.Equal(t, 204, s.press(t, "pause"))
	require.Equal(t, drive.Steering{Paused: true, Factor: 1}, s.control.Steering())
	require.Equal(t, 204, s.press(t, "resume"))
	require.Equal(t, 204, s.press(t, "faster"))
	require.InDelta(t, 1.1, s.control.Steering().Factor, 1e-9)
	require.Equal(t, 204, s.press(t, "slower"))
	require.InDelta(t, 0.99, s.control.Steering().Factor, 1e-9)
	require.Equal(t, 400, s.press(t, "explode"))
	require.Equal(t, 400, s.press(t, strings.Repeat("stop", 1000)))
	require.False(t, s.control.Steering().Stopped)
	require.Equal(t, 204, s.press(t, "stop"))
	require.True(t, s.control.Steering().Stopped)
}

// Nobody who does not hold the address may look or press, and no page of another
// site may, even if it knew the token.
func TestStrangersAreRefused(t *testing.T) {
	s := serve(t)
	token := func(r *http.Request) { r.Header.Set("X-Loadgen-Token", s.token()) }
	both := func(edits ...func(*http.Request)) func(*http.Request) {
		return func(r *http.Request) {
			for _, e := range edits {
				e(r)
			}
		}
	}
	header := func(name, value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set(name, value) }
	}
	host := func(name string) func(*http.Request) { return func(r *http.Request) { r.Host = name } }
	for name, x := range map[string]struct {
		method, path string
		edit         func(*http.Request)
		want         int
	}{
		"no token":                  {"GET", "/", nil, 403},
		"wrong token":               {"GET", "/?token=" + strings.ToLower(s.token()), nil, 403},
		"events without":            {"GET", "/events", nil, 403},
		"button without":            {"POST", "/control", nil, 403},
		"button, token in address":  {"POST", "/control?token=" + s.token(), nil, 403},
		"rebound name":              {"GET", "/?token=" + s.token(), host("evil.example"), 421},
		"rebound name, with a port": {"POST", "/control", both(token, host("evil.example:80")), 421},
		"name like an address":      {"POST", "/control", both(token, host("127.0.0.1.evil.example")), 421},
		"other origin":              {"POST", "/control", both(token, header("Origin", "http://evil.example")), 403},
		"other port":                {"POST", "/control", both(token, header("Origin", "http://127.0.0.1:1")), 403},
		"no origin to speak of":     {"POST", "/control", both(token, header("Origin", "null")), 403},
		"cross-site":                {"POST", "/control", both(token, header("Sec-Fetch-Site", "cross-site")), 403},
		"same site, other origin":   {"POST", "/control", both(token, header("Sec-Fetch-Site", "same-site")), 403},
		"question before":           {"OPTIONS", "/control", both(token, header("Origin", "http://evil.example"), header("Access-Control-Request-Method", "POST")), 405},
		"by address":                {"GET", "/control", token, 405},
		"elsewhere":                 {"GET", "/etc/passwd?token=" + s.token(), nil, 404},
		"localhost":                 {"GET", "/?token=" + s.token(), host("localhost:1234"), 200},
		"own origin":                {"POST", "/control", both(token, header("Origin", "http://"+s.address.Host)), 204},
	} {
		a := s.ask(t, x.method, x.path, "pause", x.edit)
		require.Equal(t, x.want, a.StatusCode, name)
		require.Empty(t, a.Header.Get("Access-Control-Allow-Origin"), name)
		require.Equal(t, x.want == 204, s.control.Steering().Paused, name)
		s.control.Resume()
	}
}

// A reader that reads nothing gets no queue: the run goes on without it, others see
// every newest drawing, and what is kept for it is one drawing.
func TestSlowReadersSlowNobody(t *testing.T) {
	s := serve(t)
	for range 5 { // they never read their stream
		c, err := net.Dial("tcp", s.address.Host)
		require.NoError(t, err)
		defer c.Close()
		_, err = io.WriteString(c, "GET /events?token="+s.token()+" HTTP/1.1\r\nHost: "+s.address.Host+"\r\n\r\n")
		require.NoError(t, err)
	}
	next := s.events(t)
	for i := range 20_000 {
		s.live.Row(row(i)) // must not wait for anybody
	}
	s.live.End(&report.Document{})
	for {
		f, err := next()
		require.NoError(t, err)
		if f.Over {
			break
		}
	}
	// Close waits for the slow ones only as long as it is told to.
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	require.NoError(t, s.Close(ctx))
}

func TestTooManyLookOn(t *testing.T) {
	s := serve(t)
	for range 32 {
		s.events(t)
	}
	a := s.ask(t, "GET", "/events?token="+s.token(), "", nil)
	require.Equal(t, 503, a.StatusCode)
	s.live.End(&report.Document{})
}

// A run that breaks off has no last drawing to give.
func TestCloseWithoutAnEnd(t *testing.T) {
	s := serve(t)
	next := s.events(t)
	_, err := next()
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	require.NoError(t, s.Close(ctx))
	_, err = next()
	require.Error(t, err)
}

// A body that never comes holds nothing, whoever sends it.
func TestBodyThatNeverComes(t *testing.T) {
	s := serve(t)
	for want, token := range map[string]string{"403": "", "400": s.token()} {
		c, err := net.Dial("tcp", s.address.Host)
		require.NoError(t, err)
		defer c.Close()
		_, err = io.WriteString(c, "POST /control HTTP/1.1\r\nHost: "+s.address.Host+"\r\nX-Loadgen-Token: "+token+"\r\nContent-Length: 9\r\n\r\n")
		require.NoError(t, err)
		require.NoError(t, c.SetReadDeadline(time.Now().Add(bound)))
		line, err := bufio.NewReader(c).ReadString('\n')
		require.NoError(t, err)
		require.Contains(t, line, want)
	}
}
