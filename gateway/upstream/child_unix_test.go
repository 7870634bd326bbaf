//go:build unix

package upstream_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/conn"
	"github.com/correlator-go/correlator/gateway"
	"github.com/correlator-go/correlator/gateway/internal/fake"
	"github.com/correlator-go/correlator/gateway/upstream"
)

// echoes answers each line with its own id, which the gateway wrote as a number in the
// same place; the word die makes it say why and exit.
const echoes = `while read -r line; do
  case "$line" in
    *die*) echo "out of cheese" >&2; exit 3;;
    *) id=${line#*\"id\":}; echo "{\"jsonrpc\":\"2.0\",\"id\":${id%%,*},\"result\":$$}";;
  esac
done`

// A child that dies takes its calls with it, which tell how; the next call meets
// another child.
func TestChildDies(t *testing.T) {
	up := make(chan struct{}, 4)
	g, err := gateway.New(gateway.Options{
		Upstreams: []gateway.Upstream{{
			Name: "sh", Opener: upstream.Child(conn.Command{Path: "/bin/sh", Args: []string{"-c", echoes}}, conn.Options{}),
			Isolation: gateway.Shared, Plain: true, BackoffMin: time.Millisecond,
		}},
		Observer: func(e gateway.Event) {
			if e.Kind == gateway.UpstreamUp {
				up <- struct{}{}
			}
		},
	})
	require.NoError(t, err)
	defer func() { _ = g.Close() }()
	c := &fake.Client{}
	c.Join(g.Join(c))
	require.NoError(t, c.Say(`{"jsonrpc":"2.0","id":1,"method":"pid"}`))
	first := c.Next()
	require.Contains(t, first, `"id":1,"result":`)
	<-up
	require.NoError(t, c.Say(`{"jsonrpc":"2.0","id":1,"method":"die"}`))
	got := c.Next()
	require.Contains(t, got, "out of cheese")
	require.Contains(t, got, "3")
	require.Contains(t, got, `"upstream":"sh"`)
	<-up
	require.NoError(t, c.Say(`{"jsonrpc":"2.0","id":1,"method":"pid"}`))
	second := c.Next()
	require.Contains(t, second, `"id":1,"result":`)
	require.NotEqual(t, first, second)
	s := g.Stats()
	require.EqualValues(t, 2, s.Opened)
	require.EqualValues(t, 1, s.Lost)
	require.EqualValues(t, 2, s.Answered)
}

// A program that is not there is an error of the call, which names it.
func TestChildCannotStart(t *testing.T) {
	g, err := gateway.New(gateway.Options{Upstreams: []gateway.Upstream{{
		Name: "none", Opener: upstream.Child(conn.Command{Path: "/nowhere/at-all"}, conn.Options{}), Isolation: gateway.Shared,
	}}})
	require.NoError(t, err)
	defer func() { _ = g.Close() }()
	c := &fake.Client{}
	c.Join(g.Join(c))
	require.NoError(t, c.Say(`{"jsonrpc":"2.0","id":1,"method":"m"}`))
	got := c.Next()
	require.Contains(t, got, "/nowhere/at-all")
	require.Contains(t, got, `"retryAfterMs"`)
}
