package status_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/gateway"
	"github.com/correlator-go/correlator/gateway/auth"
	"github.com/correlator-go/correlator/gateway/internal/fake"
	"github.com/correlator-go/correlator/gateway/link"
	"github.com/correlator-go/correlator/gateway/status"
)

// stage is a gateway with one fake server, whose board is served at a loopback address.
type stage struct {
	t      *testing.T
	board  *status.Board
	g      *gateway.Gateway
	server *fake.Server
	client *fake.Client
	web    *httptest.Server
}

func newStage(t *testing.T, o status.Options) *stage {
	t.Helper()
	if o.Token == "" {
		o.Token = "secret"
	}
	if o.Pause == 0 {
		o.Pause = time.Millisecond
	}
	s := &stage{t: t, server: &fake.Server{}, client: &fake.Client{Who: link.Peer{Transport: "unix", Identity: "alice"}}}
	var err error
	s.board, err = status.New(o)
	require.NoError(t, err)
	s.g, err = gateway.New(gateway.Options{
		Upstreams: []gateway.Upstream{{Name: "tools", Opener: s.server, Isolation: gateway.Shared, Plain: true, BackoffMin: time.Millisecond, Retries: -1}},
		Observer:  s.board.Observe,
	})
	require.NoError(t, err)
	s.board.Watch(s.g)
	s.client.Join(s.g.Join(s.client))
	s.web = httptest.NewServer(s.board)
	t.Cleanup(func() {
		_ = s.board.Close()
		s.web.Close()
		_ = s.g.Close()
	})
	return s
}

func (s *stage) do(method, path, body string, header ...string) (int, string) {
	s.t.Helper()
	r, err := http.NewRequest(method, s.web.URL+path, strings.NewReader(body))
	require.NoError(s.t, err)
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
		if header[i] == "Host" {
			r.Host = header[i+1]
		}
	}
	answer, err := s.web.Client().Do(r)
	require.NoError(s.t, err)
	text, err := io.ReadAll(answer.Body)
	require.NoError(s.t, err)
	require.NoError(s.t, answer.Body.Close())
	return answer.StatusCode, string(text)
}

func (s *stage) snapshot() (out status.Snapshot) {
	s.t.Helper()
	require.NoError(s.t, json.Unmarshal([]byte(must(s.do("GET", "/status/snapshot", ""))), &out))
	return out
}

func must(code int, text string) string {
	if code != http.StatusOK {
		return text + " " + http.StatusText(code)
	}
	return text
}

// call makes one and answers it.
func (s *stage) call(frame, answer string) {
	s.t.Helper()
	require.NoError(s.t, s.client.Say(frame))
	id, _ := s.server.Way(0).NextRequest()
	s.server.Way(0).Say(strings.ReplaceAll(answer, "ID", id))
	require.NotEmpty(s.t, s.client.Next())
}

const ask = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"key":"hunter2"}}}`

// What happens is counted under the names of the conventions, by what became of it.
func TestMetrics(t *testing.T) {
	s := newStage(t, status.Options{})
	s.call(ask, `{"jsonrpc":"2.0","id":ID,"result":{}}`)
	s.call(ask, `{"jsonrpc":"2.0","id":ID,"result":{"isError":true}}`)
	s.call(ask, `{"jsonrpc":"2.0","id":ID,"error":{"code":-32602,"message":"hunter2"}}`)
	s.call(`{"jsonrpc":"2.0","id":1,"method":"odd\"name\n"}`, `{"jsonrpc":"2.0","id":ID,"error":{"code":7,"message":"no"}}`)
	code, text := s.do("GET", "/metrics", "")
	require.Equal(t, http.StatusOK, code)
	for _, want := range []string{
		`mcp_server_operation_duration_seconds_count{correlator_upstream="tools",mcp_method_name="tools/call",gen_ai_tool_name="echo",gen_ai_operation_name="execute_tool",network_transport="unix"} 1`,
		`error_type="tool_error",network_transport="unix"} 1`,
		`mcp_client_operation_duration_seconds_count{correlator_upstream="tools",mcp_method_name="tools/call",gen_ai_tool_name="echo",gen_ai_operation_name="execute_tool",error_type="-32602"} 1`,
		`mcp_method_name="_OTHER",error_type="_OTHER"`,
		`correlator_gateway_queue_duration_seconds_count{correlator_upstream="tools"} 4`,
		`correlator_gateway_calls_total{correlator_outcome="error"} 2`,
		`correlator_gateway_requests_total 4`,
		`correlator_gateway_upstream_ways{correlator_upstream="tools"} 1`,
	} {
		require.Contains(t, text, want)
	}
	require.NotContains(t, text, "hunter2")
}

// Names that clients make up do not grow the metrics without bound.
func TestMetricsAreBounded(t *testing.T) {
	b, err := status.New(status.Options{})
	require.NoError(t, err)
	for i := range 5000 {
		b.Observe(gateway.Event{Kind: gateway.CallEnded, Upstream: "u", Method: "tools/call", Tool: "t" + strings.Repeat("x", i%50) + string(rune('a'+i%26)) + time.Duration(i).String(), Outcome: gateway.Answered})
	}
	w := httptest.NewRecorder()
	r := httptest.NewRequest("GET", "http://localhost/metrics", nil)
	r.Header.Set("Authorization", "Bearer "+b.Token())
	b.ServeHTTP(w, r)
	require.Less(t, strings.Count(w.Body.String(), "mcp_server_operation_duration_seconds_count"), 1100)
	require.Contains(t, w.Body.String(), `gen_ai_tool_name="_OTHER"`)
}

// The page's data: the upstream's state, what is pending with its age, and a cancel that
// needs the token.
func TestSnapshotAndCancel(t *testing.T) {
	s := newStage(t, status.Options{})
	require.Equal(t, "unused", s.snapshot().Upstreams[0].State)
	require.NoError(t, s.client.Say(`{"jsonrpc":"2.0","id":"a\"b","method":"tools/call","params":{"name":"slow"}}`))
	_, _ = s.server.Way(0).NextRequest()
	snapshot := s.snapshot()
	require.Equal(t, "up", snapshot.Upstreams[0].State)
	require.Equal(t, 1, snapshot.Upstreams[0].InFlight)
	require.Len(t, snapshot.Slowest, 1)
	p := snapshot.Slowest[0]
	require.Equal(t, `"a\"b"`, p.ID)
	require.Equal(t, []string{"alice", "unix", "tools", "tools/call", "slow"}, []string{p.Identity, p.Transport, p.Upstream, p.Method, p.Tool})
	require.Positive(t, p.Age)

	body, err := json.Marshal(map[string]any{"client": p.Client, "id": p.ID})
	require.NoError(t, err)
	for _, header := range [][]string{nil, {"Authorization", "Bearer wrong"}, {"Authorization", "secret"}, {"Cookie", "token=secret"}} {
		code, _ := s.do("POST", "/status/cancel", string(body), header...)
		require.Equal(t, http.StatusUnauthorized, code, header)
	}
	allowed := []string{"Authorization", "Bearer secret"}
	for what, want := range map[string]int{
		``: 400, `[]`: 400, `{"client":99,"id":"1"}`: 404, `{"client":1,"id":"{"}`: 404,
	} {
		code, _ := s.do("POST", "/status/cancel", what, allowed...)
		require.Equal(t, want, code, what)
	}
	code, _ := s.do("GET", "/status/cancel", "", allowed...)
	require.Equal(t, http.StatusMethodNotAllowed, code)
	code, text := s.do("POST", "/status/cancel", string(body), allowed...)
	require.Equal(t, http.StatusOK, code, text)
	require.Contains(t, s.client.Next(), "cancelled by an operator")
	require.Len(t, s.server.Way(0).Cancels(), 1)
	code, _ = s.do("POST", "/status/cancel", string(body), allowed...)
	require.Equal(t, http.StatusNotFound, code, "it is over")
}

// A name that was made to point here sees nothing without the token; health is for all.
func TestOnlyThisMachineLooks(t *testing.T) {
	s := newStage(t, status.Options{Token: auth.HashToken("secret")})
	require.Empty(t, s.board.Token())
	for _, path := range []string{"/metrics", "/status/snapshot", "/status/events"} {
		code, _ := s.do("GET", path, "", "Host", "evil.example")
		require.Equal(t, http.StatusUnauthorized, code, path)
	}
	code, _ := s.do("GET", "/metrics", "", "Host", "tools.example", "Authorization", "Bearer secret")
	require.Equal(t, http.StatusOK, code)
	for _, path := range []string{"/", "/healthz", "/readyz", "/status.js", "/status.css"} {
		code, _ := s.do("GET", path, "", "Host", "evil.example")
		require.Equal(t, http.StatusOK, code, path)
	}
	code, _ = s.do("GET", "/other", "")
	require.Equal(t, http.StatusNotFound, code)
	// What came to an address that others reach is no local request, whatever it says.
	w := httptest.NewRecorder()
	s.board.ServeHTTP(w, httptest.NewRequest("GET", "http://localhost/metrics", nil))
	require.Equal(t, http.StatusUnauthorized, w.Code)
}

func TestReadiness(t *testing.T) {
	b, err := status.New(status.Options{})
	require.NoError(t, err)
	require.NotEmpty(t, b.Token(), "one is made up")
	w := httptest.NewRecorder()
	b.Ready(w, nil)
	require.Equal(t, http.StatusServiceUnavailable, w.Code, "there is no gateway yet")
	s := newStage(t, status.Options{})
	code, _ := s.do("GET", "/readyz", "")
	require.Equal(t, http.StatusOK, code)
	require.NoError(t, s.g.Drain(t.Context()))
	code, text := s.do("GET", "/readyz", "")
	require.Equal(t, http.StatusServiceUnavailable, code)
	require.Equal(t, "draining\n", text)
	code, _ = s.do("GET", "/healthz", "")
	require.Equal(t, http.StatusOK, code)
	require.True(t, s.snapshot().Draining)
}

// The page is drawn again and again, and a board that is closed lets its readers go.
func TestEvents(t *testing.T) {
	s := newStage(t, status.Options{})
	r, err := http.Get(s.web.URL + "/status/events")
	require.NoError(t, err)
	defer func() { _ = r.Body.Close() }()
	require.Equal(t, "text/event-stream", r.Header.Get("Content-Type"))
	lines := bufio.NewReader(r.Body)
	for range 3 {
		line, err := lines.ReadString('\n')
		require.NoError(t, err)
		data, ok := strings.CutPrefix(line, "data: ")
		require.True(t, ok, line)
		require.True(t, json.Valid([]byte(data)))
		_, err = lines.ReadString('\n')
		require.NoError(t, err)
	}
	require.NoError(t, s.board.Close())
	require.NoError(t, s.board.Close())
	_, err = io.Copy(io.Discard, lines)
	require.NoError(t, err)
	code, _ := s.do("GET", "/status/events", "")
	require.Equal(t, http.StatusServiceUnavailable, code)
}

// Lines of a server that are no messages, its log on standard output for example, are
// counted and shown; the call beside them is answered.
func TestC18ChatterIsShown(t *testing.T) {
	s := newStage(t, status.Options{})
	require.NoError(t, s.client.Say(`{"jsonrpc":"2.0","id":1,"method":"m"}`))
	way := s.server.Way(0)
	id, _ := way.NextRequest()
	chatter := []string{"Server started on stdio", "[debug] {x", "42", `"ready"`, `{"level":"info"}`}
	for _, line := range chatter {
		way.Say(line)
	}
	way.Say(`{"jsonrpc":"2.0","id":` + id + `,"result":{}}`)
	require.Equal(t, `{"jsonrpc":"2.0","id":1,"result":{}}`, s.client.Next())
	require.EqualValues(t, len(chatter), s.snapshot().Upstreams[0].Chatter)
	require.EqualValues(t, len(chatter), s.snapshot().Dropped["unreadable_server"])
	_, text := s.do("GET", "/metrics", "")
	require.Contains(t, text, `correlator_gateway_messages_dropped_total{correlator_kind="unreadable_server"} 5`)
}

// A line of the log for each call, with what one asks for and no secret.
func TestAccessLog(t *testing.T) {
	var out bytes.Buffer
	s := newStage(t, status.Options{LogCalls: true, Log: slog.New(slog.NewTextHandler(&out, nil))})
	s.call(ask, `{"jsonrpc":"2.0","id":ID,"result":{"secret":"hunter2"}}`)
	s.call(ask, `{"jsonrpc":"2.0","id":ID,"error":{"code":-32602,"message":"bad token: Bearer hunter2hunter2"}}`)
	s.board.LogCalls(false)
	s.call(ask, `{"jsonrpc":"2.0","id":ID,"result":{}}`)
	require.NoError(t, s.board.Flush())
	var lines []string
	for line := range strings.SplitSeq(out.String(), "\n") {
		if strings.Contains(line, "msg=call") {
			lines = append(lines, line)
		}
	}
	require.Len(t, lines, 2)
	for _, want := range []string{"client=1", "transport=unix", "identity=alice", "upstream=tools", "method=tools/call", "tool=echo", "id=1", "outcome=ok", "queue=", "took="} {
		require.Contains(t, lines[0], want)
	}
	require.Contains(t, lines[1], "outcome=error")
	require.NotContains(t, out.String(), "hunter2")
}

// stuck is a log that nobody reads.
type stuck struct{ release chan struct{} }

func (s stuck) Write(p []byte) (int, error) {
	<-s.release
	return 0, errors.New("nobody reads")
}

// Who writes to a log that is not read does not wait: what does not fit is dropped.
func TestLogNeverBlocks(t *testing.T) {
	s := stuck{make(chan struct{})}
	w := status.NewAsyncWriter(s, 100)
	line := bytes.Repeat([]byte("x"), 40)
	for range 10 {
		n, err := w.Write(line)
		require.NoError(t, err)
		require.Equal(t, len(line), n)
	}
	require.GreaterOrEqual(t, w.Dropped(), uint64(10-2-3), "two fit, two or three were taken before")
	close(s.release)
	require.NoError(t, w.Close())
	_, _ = w.Write(line)

	var out bytes.Buffer
	whole := status.NewAsyncWriter(&out, 0)
	for range 100 {
		_, _ = whole.Write(line)
	}
	require.NoError(t, whole.Close())
	require.Equal(t, 100*len(line), out.Len())
	require.Zero(t, whole.Dropped())
}
