package node_test

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/gateway/config"
	"github.com/correlator-go/correlator/gateway/node"
)

func parse(t *testing.T, text string) *config.Config {
	t.Helper()
	c, err := config.Parse("f.yaml", []byte(text), nil)
	require.NoError(t, err)
	return c
}

// run runs a node until the test ends, and gives where it is.
func run(t *testing.T, n *node.Node, ready <-chan node.Ready) node.Ready {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	over := make(chan error, 1)
	go func() { over <- n.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		require.NoError(t, <-over)
	})
	return <-ready
}

// locked is a log that a test reads while it is written.
type locked struct {
	mu  sync.Mutex // guards buf
	buf bytes.Buffer
}

func (l *locked) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *locked) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

const minimal = "upstreams:\n  tools: {url: \"tcp://127.0.0.1:9\", isolation: shared}\n"

// What only building shows has the line of the member that it comes from.
func TestBuildMistakes(t *testing.T) {
	for text, want := range map[string]string{
		"upstreams:\n  a: {url: \"https://h/\", tls: {ca: /nowhere}}\n":                                         "f.yaml:2: upstreams.a: ",
		minimal + "listen:\n  - {address: \"https://127.0.0.1:0/\", tls: {cert: /nowhere, key: /nowhere}}\n":    "f.yaml:4: listen[0]: ",
		minimal + "auth:\n  oauth: {resource: \"https://h/mcp\", issuers: [\"http://far.example\"]}\n":          "f.yaml:4: auth.oauth: ",
		minimal + "auth:\n  tokens:\n    - {name: \"a#b\", hash: \"sha256:" + strings.Repeat("0", 64) + "\"}\n": "f.yaml:4: auth.tokens: ",
	} {
		_, err := node.New(parse(t, text), node.Options{})
		require.ErrorContains(t, err, want)
	}
}

// The page is at each loopback http address, at one of its own, or nowhere.
func TestWhereThePageIs(t *testing.T) {
	for _, c := range []struct {
		name, more string
		there      bool
		token      bool
	}{
		{"beside the clients", "", true, true},
		{"its own address", "status: {address: \"127.0.0.1:0\", token: secret}\n", true, false},
		{"nowhere", "status: none\n", false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			ready := make(chan node.Ready, 1)
			n, err := node.New(parse(t, minimal+"listen: [\"http://127.0.0.1:0/mcp\", \"unix:"+filepath.Join(t.TempDir(), "s")+"\"]\n"+c.more), node.Options{Ready: func(r node.Ready) { ready <- r }})
			require.NoError(t, err)
			r := run(t, n, ready)
			require.Len(t, r.Clients, 2)
			get := func(address string) int {
				answer, err := http.Get(address)
				require.NoError(t, err)
				require.NoError(t, answer.Body.Close())
				return answer.StatusCode
			}
			base := strings.TrimSuffix(r.Clients[0], "mcp")
			require.Equal(t, http.StatusOK, get(base+"healthz"))
			require.Equal(t, http.StatusOK, get(base+"readyz"))
			if !c.there {
				require.Empty(t, r.Status)
				require.Equal(t, http.StatusNotFound, get(base+"metrics"))
				return
			}
			page, token, found := strings.Cut(r.Status, "#token=")
			require.Equal(t, c.token, found)
			require.Equal(t, c.token, token != "")
			require.Equal(t, http.StatusOK, get(page+"metrics"))
			if !c.token {
				require.Equal(t, http.StatusNotFound, get(base+"metrics"))
			}
		})
	}
}

// What cannot change while the node runs is said in the log; a file that cannot be
// built from changes nothing.
func TestReload(t *testing.T) {
	var log locked
	ready := make(chan node.Ready, 1)
	n, err := node.New(parse(t, minimal+"listen: [\"http://127.0.0.1:0/mcp\"]\n"), node.Options{
		Log: slog.New(slog.NewTextHandler(&log, nil)), Ready: func(r node.Ready) { ready <- r },
	})
	require.NoError(t, err)
	run(t, n, ready)
	require.ErrorContains(t, n.Reload(parse(t, "upstreams:\n  other: {url: \"https://h/\", tls: {ca: /nowhere}}\n")), "f.yaml:2: upstreams.other")
	require.Equal(t, "tools", n.Gateway().Upstreams()[0].Name)
	require.NoError(t, n.Reload(parse(t, strings.Replace(minimal, "tools", "others", 1)+"listen: [\"stdio:\", \"http://127.0.0.1:0/mcp\"]\nmerge: true\ncluster: nats://127.0.0.1:1\nlog: {level: debug}\n")))
	require.Equal(t, "others", n.Gateway().Upstreams()[0].Name)
	for _, member := range []string{"cluster", "log.level", `"listen: stdio:"`} {
		require.Contains(t, log.String(), `msg="a change needs a restart" member=`+member)
	}
	require.Equal(t, 3, strings.Count(log.String(), "needs a restart"), log.String())
	require.NotContains(t, log.String(), "listening", "the address is the same")
}

// A unix socket that nobody listens at any more is replaced, one that is in use is not.
func TestUnixSocket(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	text := minimal + "listen: [\"unix:" + path + "\"]\n"
	ready := make(chan node.Ready, 1)
	first, err := node.New(parse(t, text), node.Options{Ready: func(r node.Ready) { ready <- r }})
	require.NoError(t, err)
	run(t, first, ready)
	second, err := node.New(parse(t, text), node.Options{})
	require.NoError(t, err)
	require.ErrorContains(t, second.Run(t.Context()), "somebody listens there already")
}

// L06: the end may be asked for again and at once; it is the same each time.
func TestL06CloseTwice(t *testing.T) {
	ready := make(chan node.Ready, 1)
	n, err := node.New(parse(t, minimal+"listen: [\"http://127.0.0.1:0/mcp\"]\n"), node.Options{Ready: func(r node.Ready) { ready <- r }})
	require.NoError(t, err)
	run(t, n, ready)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() { _ = n.Gateway().Close() })
	}
	all.Wait()
	require.NoError(t, n.Gateway().Close())
	require.Zero(t, n.Gateway().Stats().Sessions)
}
