package main

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/mcp"
	"github.com/correlator-go/correlator/serve"
)

// endpoint is a server with Streamable HTTP whose tool echo counts its calls. busy is
// closed when it has counted 200.
func endpoint(t *testing.T) (url string, calls *atomic.Int64, busy <-chan struct{}, end func()) {
	t.Helper()
	calls = new(atomic.Int64)
	counted := make(chan struct{})
	d, err := mcp.NewServer(mcp.Description{Info: mcp.Implementation{Name: "endpoint", Version: "1"}, Tools: []mcp.ServerTool{
		mcp.NewTool(mcp.Tool{Name: "echo"}, func(_ context.Context, _ *mcp.Request, in struct {
			Message string `json:"message"`
		},
		) (string, error) {
			if calls.Add(1) == 200 {
				close(counted)
			}
			return in.Message, nil
		}),
	}})
	require.NoError(t, err)
	s, err := serve.New(d, serve.Options{})
	require.NoError(t, err)
	h, err := s.HTTP(serve.HTTPOptions{})
	require.NoError(t, err)
	web := httptest.NewServer(h)
	end = func() {
		s.Close()
		web.CloseClientConnections()
		web.Close()
	}
	t.Cleanup(end)
	return web.URL + "/mcp", calls, counted, end
}

// An endpoint is loaded like everything else, in both eras and in each mode, and the
// count of the server's own handler says that the accounting is right.
func TestHTTPEndpoint(t *testing.T) {
	url, calls, _, _ := endpoint(t)
	for era, version := range map[string]string{"auto": "2026-07-28", "modern": "2026-07-28", "older": "2025-11-25"} {
		for _, load := range [][]string{
			{"-n", "600"}, {"-n", "600", "-mode", "callback", "-conns", "3"}, {"-n", "600", "-mode", "blocking"}, {"-d", "300ms", "-rate", "1k/s", "-warmup", "0s"},
		} {
			before := calls.Load()
			args := append([]string{"-target", url, "-mcp", "-era", era, "-args", `{"message":"grüße"}`, "-c", "24", "-quiet", "-o", "-"}, load...)
			code, out, errs := loadgen(t, args...)
			require.Equal(t, exitOK, code, "%v %s", load, errs)
			d := read(t, []byte(out))
			require.Equal(t, version, d.Config.MCP)
			require.Equal(t, "endpoint 1", d.Config.Peer)
			require.Equal(t, "http", d.Config.Framing)
			require.Empty(t, d.Problems)
			sent := d.Counts.Sent
			require.Positive(t, sent)
			require.Equal(t, sent, d.Counts.Ends.OK)
			require.Equal(t, sent+1, calls.Load()-before, "and one ahead of the load")
			require.Greater(t, d.Cost.BytesOut, 100.0, "bytes of HTTP")
			require.Greater(t, d.Cost.BytesIn, 50.0)
			require.GreaterOrEqual(t, d.Cost.Writes, 0.9)
		}
	}
}

// A tool that does not exist is said before the load, and so is an endpoint that
// speaks no MCP.
func TestHTTPEndpointThatRefuses(t *testing.T) {
	url, _, _, _ := endpoint(t)
	code, _, errs := loadgen(t, "-target", url, "-mcp", "-tool", "none", "-n", "10", "-quiet")
	require.Equal(t, exitError, code)
	require.Contains(t, errs, "once before the load")
	plain := httptest.NewServer(http.NotFoundHandler())
	defer plain.Close()
	code, _, errs = loadgen(t, "-target", plain.URL, "-mcp", "-n", "10", "-quiet")
	require.Equal(t, exitError, code)
	require.Contains(t, errs, "404")
}

// An endpoint that goes away ends the run, like a connection that does.
func TestHTTPEndpointThatGoes(t *testing.T) {
	for _, mode := range []string{"batch", "callback", "blocking"} {
		url, _, busy, end := endpoint(t)
		go func() {
			<-busy
			end()
		}()
		code, out, errs := loadgen(t, "-target", url, "-mcp", "-c", "8", "-d", "1m", "-args", `{"message":""}`, "-mode", mode, "-quiet")
		require.Equal(t, exitError, code, out)
		require.Contains(t, errs+out, "dial", mode)
	}
}

func TestHTTPUsage(t *testing.T) {
	for _, args := range [][]string{
		{"-target", "http://127.0.0.1:1/"},
		{"-target", "http://127.0.0.1:1/", "-mcp", "-framing", "headers"},
		{"-target", "http://127.0.0.1:1/", "-mcp", "-peer-counters"},
		{"-target", "http:///mcp", "-mcp"},
		{"-era", "older"},
		{"-mcp", "-era", "stone"},
	} {
		code, _, errs := loadgen(t, args...)
		require.Equal(t, exitUsage, code, "%v %s", args, errs)
	}
}
