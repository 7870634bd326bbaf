package client_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/client"
	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/mcp"
)

func refusal(text string) string { return `{"jsonrpc":"2.0","id":ID,"error":` + text + `}` }

func TestEra(t *testing.T) {
	for _, c := range []struct {
		name     string
		discover string
		era      client.Era
		want     mcp.Revision
		methods  []string
		err      error
	}{
		{name: "modern", discover: discovered, want: mcp.Modern, methods: []string{"server/discover"}},
		{
			name: "method not found", discover: refusal(`{"code":-32601,"message":"x"}`), want: mcp.Revision20251125,
			methods: []string{"server/discover", "initialize", "notifications/initialized"},
		},
		{
			name: "any other error", discover: refusal(`{"code":-32000,"message":"Server not initialized"}`), want: mcp.Revision20251125,
			methods: []string{"server/discover", "initialize", "notifications/initialized"},
		},
		{
			name: "an error that is a string", discover: refusal(`"what?"`), want: mcp.Revision20251125,
			methods: []string{"server/discover", "initialize", "notifications/initialized"},
		},
		{
			name: "older revisions alone", discover: `{"jsonrpc":"2.0","id":ID,"result":{"supportedVersions":["2025-11-25"],"capabilities":{}}}`,
			want: mcp.Revision20251125, methods: []string{"server/discover", "initialize", "notifications/initialized"},
		},
		{
			name: "revisions of the future", discover: refusal(`{"code":-32022,"message":"x","data":{"supported":["2030-01-01"],"requested":"2026-07-28"}}`),
			methods: []string{"server/discover"}, err: &codec.Error{Code: mcp.CodeUnsupportedVersion},
		},
		{
			name: "a modern refusal", discover: refusal(`{"code":-32021,"message":"x","data":{"requiredCapabilities":{}}}`),
			methods: []string{"server/discover"}, err: &codec.Error{Code: mcp.CodeMissingCapability},
		},
		{
			name: "modern only, of an older server", discover: refusal(`{"code":-32601,"message":"x"}`), era: client.EraModern,
			methods: []string{"server/discover"}, err: &codec.Error{Code: codec.CodeMethodNotFound},
		},
		{
			name: "older only", discover: discovered, era: client.EraLegacy, want: mcp.Revision20251125,
			methods: []string{"initialize", "notifications/initialized"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, w := range scriptedWays {
				t.Run(w.name, func(t *testing.T) {
					var h heard
					s := script(func(m message) []string {
						h.add(m)
						switch m.Method {
						case mcp.MethodDiscover:
							return []string{c.discover}
						case mcp.MethodInitialize:
							return []string{initialized}
						case mcp.NoteInitialized:
							return nil
						}
						return []string{`{"jsonrpc":"2.0","id":ID,"result":{}}`}
					})
					cl, err := client.Connect(t.Context(), w.open(t, s), client.Options{Era: c.era, Eras: &client.Eras{}})
					if c.err != nil {
						require.ErrorIs(t, err, c.err)
						require.Equal(t, c.methods, h.methods())
						return
					}
					require.NoError(t, err)
					defer cl.Close()
					require.Equal(t, c.want, cl.Revision())
					require.Equal(t, "scripted", cl.ServerInfo().Name)
					require.NoError(t, cl.Ping(t.Context())) // whatever was sent before it has arrived
					require.Equal(t, c.methods, h.methods()[:len(c.methods)])
				})
			}
		})
	}
}

func TestUnsupportedVersion(t *testing.T) {
	s := script(func(m message) []string {
		if m.Method == mcp.MethodInitialize {
			return []string{`{"jsonrpc":"2.0","id":ID,"result":{"protocolVersion":"1999-01-01","capabilities":{},"serverInfo":{"name":"x","version":"1"}}}`}
		}
		return []string{refusal(`{"code":-32022,"message":"x","data":{"supported":["2030-01-01","2031-01-01"],"requested":"2026-07-28"}}`)}
	})
	for _, w := range scriptedWays {
		t.Run(w.name, func(t *testing.T) {
			var unsupported *client.UnsupportedVersion
			_, err := client.Connect(t.Context(), w.open(t, s), client.Options{Eras: &client.Eras{}})
			require.ErrorAs(t, err, &unsupported)
			require.Equal(t, []string{"2030-01-01", "2031-01-01"}, unsupported.Supported)
			require.Equal(t, "2026-07-28", unsupported.Requested)
			_, err = client.Connect(t.Context(), w.open(t, s), client.Options{Era: client.EraLegacy})
			require.ErrorAs(t, err, &unsupported)
			require.Equal(t, []string{"1999-01-01"}, unsupported.Supported)
		})
	}
}

// A server that leaves what it does not know unanswered is one of the older era,
// once the probe's time is over.
func TestSilentServerIsOlder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := older(func(message) []string { return []string{`{"jsonrpc":"2.0","id":ID,"result":{}}`} })
		silent := script(func(m message) []string {
			if m.Method == mcp.MethodDiscover || m.Method == mcp.NoteCancelled {
				return nil
			}
			return s(m)
		})
		begun := time.Now()
		c, err := client.Connect(t.Context(), scriptedStream(t, silent), client.Options{})
		require.NoError(t, err)
		require.Equal(t, mcp.Revision20251125, c.Revision())
		require.InDelta(t, client.DefaultProbeTimeout, time.Since(begun), float64(10*time.Millisecond))
		require.NoError(t, c.Close())
	})
}

func TestErasAreRememberedAndForgotten(t *testing.T) {
	eras := &client.Eras{}
	var h heard
	old := true
	s := script(func(m message) []string {
		h.add(m)
		if old {
			return older(func(message) []string { return nil })(m)
		}
		return modern(func(message) []string { return []string{refusal(`{"code":-32601,"message":"gone"}`)} })(m)
	})
	open := scriptedHTTP(t, s)
	connect := func() mcp.Revision {
		c, err := client.Connect(t.Context(), open, client.Options{Eras: eras})
		require.NoError(t, err)
		defer c.Close()
		return c.Revision()
	}
	require.Equal(t, mcp.Revision20251125, connect())
	require.Equal(t, mcp.Revision20251125, connect())
	require.Equal(t, []string{"server/discover", "initialize", "notifications/initialized", "initialize", "notifications/initialized"}, h.methods())
	old = false
	require.Equal(t, mcp.Modern, connect(), "a server that was brought up to date is asked after all")
	require.Equal(t, mcp.Modern, connect())
	eras.Forget()
}

// A server that ends at the first message that is no initialize is started again.
func TestServerThatDiesOfTheProbe(t *testing.T) {
	l := listen(t)
	starts := make(chan string, 8)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close() // which ends the child
				script(func(m message) []string {
					starts <- m.Method
					if m.Method == mcp.MethodDiscover {
						_ = c.Close()
					}
					return older(func(message) []string { return nil })(m)
				}).serve(c)
			}()
		}
	}()
	c, err := client.Connect(t.Context(), child(t, l), client.Options{Eras: &client.Eras{}})
	require.NoError(t, err)
	require.Equal(t, "scripted", c.ServerInfo().Name)
	require.Equal(t, mcp.MethodDiscover, <-starts)
	require.Equal(t, mcp.MethodInitialize, <-starts)
	require.NoError(t, c.Close())
}

// A server that refuses a revision and names it among those it has is asked again
// with it, once.
func TestRevisionRefusedAndNamed(t *testing.T) {
	const odd = `{"code":-32022,"message":"x","data":{"supported":["2026-07-28"],"requested":"2026-07-28"}}`
	for _, refusals := range []int{1, 2} {
		for _, w := range scriptedWays {
			var h heard
			s := script(func(m message) []string {
				h.add(m)
				if len(h.methods()) <= refusals {
					return []string{refusal(odd)}
				}
				return []string{discovered}
			})
			c, err := client.Connect(t.Context(), w.open(t, s), client.Options{Eras: &client.Eras{}})
			if refusals == 1 {
				require.NoError(t, err)
				require.NoError(t, c.Close())
				continue
			}
			var unsupported *client.UnsupportedVersion
			require.ErrorAs(t, err, &unsupported)
			require.Len(t, h.methods(), 2)
		}
	}
}
