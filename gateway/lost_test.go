package gateway_test

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/gateway"
	"github.com/correlator-go/correlator/gateway/internal/fake"
	"github.com/correlator-go/correlator/gateway/limit"
)

// What ends together is answered together: each client is written to once, be its calls
// lost with their server, or waiting for one that does not open, or for too long.
func TestLostCallsAreAnsweredInOneWrite(t *testing.T) {
	const clients, calls = 10, 100
	for name, f := range map[string]func(t *testing.T, server *fake.Server, g *gateway.Gateway, all func()){
		"in flight": func(_ *testing.T, server *fake.Server, _ *gateway.Gateway, all func()) {
			all()
			for range clients * calls {
				_ = server.Way(0).Next()
			}
			server.Way(0).Die(errors.New("killed"))
		},
		"waiting": func(_ *testing.T, server *fake.Server, _ *gateway.Gateway, all func()) {
			tried := make(chan struct{})
			server.Fail = func(int) error {
				<-tried
				return errors.New("no such program")
			}
			all()
			close(tried)
		},
		"waiting too long": func(_ *testing.T, server *fake.Server, g *gateway.Gateway, all func()) {
			never := make(chan struct{})
			server.Fail = func(int) error {
				<-never
				return errors.New("no such program")
			}
			all()
			time.Sleep(limit.DefaultQueueWait + time.Second)
			close(never)
		},
		"closed": func(_ *testing.T, server *fake.Server, g *gateway.Gateway, all func()) {
			all()
			for range clients * calls {
				_ = server.Way(0).Next()
			}
			go func() { _ = g.Close() }()
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := &fake.Server{}
				u := shared()
				u.Name, u.Opener, u.Plain = "tools", server, true
				g, err := gateway.New(gateway.Options{Upstreams: []gateway.Upstream{u}})
				require.NoError(t, err)
				var them []*fake.Client
				for range clients {
					c, _ := join(g)
					them = append(them, c)
				}
				f(t, server, g, func() {
					for _, c := range them {
						for id := range calls {
							say(t, c, fmt.Sprint(id), "m")
						}
					}
				})
				synctest.Wait()
				time.Sleep(time.Second)
				for _, c := range them {
					require.Len(t, c.Unread(), calls)
					require.Equal(t, 1, c.Writes())
				}
				require.EqualValues(t, clients*calls, g.Stats().Lost+g.Stats().Expired)
				_ = g.Close()
				synctest.Wait()
			})
		})
	}
}

// What clients are told begins with no name of a package, which they cannot know.
func TestErrorsNameNoPackages(t *testing.T) {
	server := &fake.Server{Fail: func(int) error { return errors.New("cluster: link: no such program: x: y") }}
	u := shared()
	u.Name, u.Opener, u.BackoffMin = "tools", server, time.Hour
	g, err := gateway.New(gateway.Options{Upstreams: []gateway.Upstream{u}})
	require.NoError(t, err)
	defer func() { _ = g.Close() }()
	c, _ := join(g)
	say(t, c, "1", "m")
	require.Contains(t, c.Next(), `"message":"upstream \"tools\" could not be opened: no such program: x: y"`)
}
