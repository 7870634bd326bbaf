package gateway_test

import (
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/gateway"
	"github.com/correlator-go/correlator/gateway/internal/fake"
)

// echoing answers requests with what of says of them: a result, or an error with its name.
func echoing(t *testing.T, s *fake.Server, of func(method, params string) string) (asked func() []string) {
	t.Helper()
	stop, done := make(chan struct{}), make(chan struct{})
	var mu sync.Mutex
	var all []string
	go func() {
		defer close(done)
		w := s.WayOr(0, stop)
		for w != nil {
			frame, ok := w.NextOr(stop)
			if !ok {
				return
			}
			m, err := codec.Parse([]byte(frame), codec.ScanOptions{})
			if err != nil || m.Kind != codec.KindRequest {
				continue
			}
			method, params := string(m.Method()), string(m.Params())
			mu.Lock()
			all = append(all, method+" "+params)
			mu.Unlock()
			answer := of(method, params)
			if !strings.HasPrefix(answer, `"error":`) {
				answer = `"result":` + answer
			}
			w.Say(`{"jsonrpc":"2.0","id":` + string(m.RawID()) + `,` + answer + `}`)
		}
	}()
	t.Cleanup(func() { close(stop); <-done })
	return func() []string {
		mu.Lock()
		defer mu.Unlock()
		return append([]string(nil), all...)
	}
}

const withResources = `{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"prompts":{},"completions":{},"resources":{"subscribe":true}},"serverInfo":{"name":"x","version":"1"}}`

// Of two upstreams with one resource the first in the options serves it, whichever list
// comes first, and the conflict is told once, with both names.
func TestSameResourceTwice(t *testing.T) {
	for range 20 {
		a, b := &fake.Server{Initialize: withResources}, &fake.Server{Initialize: withResources}
		var mu sync.Mutex
		var told []string
		o := gateway.Options{Merge: true, Observer: func(e gateway.Event) {
			if e.Kind == gateway.ResourcesConflict {
				mu.Lock()
				defer mu.Unlock()
				told = append(told, e.Err.Error())
			}
		}}
		for name, s := range map[string]*fake.Server{"z": a, "y": b} {
			mark := name
			echoing(t, s, func(method, _ string) string {
				switch method {
				case "resources/list":
					return `{"resources":[{"uri":"file:///same"},{"uri":"file:///` + mark + `"}]}`
				case "resources/templates/list":
					return `{"resourceTemplates":[{"uriTemplate":"t:/{x}"}]}`
				}
				return `{"contents":[{"uri":"file:///same","text":"` + mark + `"}]}`
			})
		}
		for _, u := range []gateway.Upstream{{Name: "z", Opener: a}, {Name: "y", Opener: b}} {
			u.Isolation = gateway.Shared
			o.Upstreams = append(o.Upstreams, u)
		}
		g, err := gateway.New(o)
		require.NoError(t, err)
		c, _ := join(g)
		for range 3 {
			require.Contains(t, ask(t, c, "1", "resources/read", `{"uri":"file:///same"}`), `"text":"z"`)
			require.Contains(t, ask(t, c, "1", "resources/read", `{"uri":"t:/1"}`), `"text":"z"`)
			ask(t, c, "2", "resources/list", "")
		}
		mu.Lock()
		require.Len(t, told, 2, "a resource and a template")
		require.Contains(t, strings.Join(told, "\n"), `upstreams "z" and "y" both have the resource file:///same: "z" serves it`)
		mu.Unlock()
		require.EqualValues(t, 2, g.Stats().Conflicts)
		require.NoError(t, g.Close())
	}
}

// Under a prefix both are reached: in lists, reads, templates, completions, subscriptions
// and what tools link to; each server knows its own URIs only.
func TestURIPrefix(t *testing.T) {
	a, b := &fake.Server{Initialize: withResources}, &fake.Server{Initialize: withResources}
	servers := map[string]func() []string{}
	for name, s := range map[string]*fake.Server{"a": a, "b": b} {
		mark := name
		servers[name] = echoing(t, s, func(method, params string) string {
			switch {
			case method == "resources/list":
				return `{"resources":[{"name":"n" , "uri":"file:///same"}]}`
			case method == "resources/templates/list":
				return `{"resourceTemplates":[{"uriTemplate":"file:///{x}","name":"t"}]}`
			case method == "tools/call":
				return `{"content":[{"type":"resource_link","uri":"file:///same","name":"` + mark + `"}]}`
			case method == "completion/complete":
				return `{"completion":{"values":["` + mark + `"]}}`
			case strings.Contains(params, "nowhere"):
				return `"error":{"code":-32002,"message":"no","data":{"uri":"file:///nowhere"}}`
			case method == "resources/read":
				return `{"contents":[{"uri":"file:///same","text":"` + mark + `"}]}`
			}
			return `{}`
		})
	}
	g, err := gateway.New(gateway.Options{Merge: true, Upstreams: []gateway.Upstream{
		{Name: "a", Opener: a, Isolation: gateway.Shared}, {Name: "b", Opener: b, Isolation: gateway.Shared, URIPrefix: "b+"},
	}})
	require.NoError(t, err)
	over(t, g)
	c, _ := join(g)
	begin(t, c)
	require.Equal(t, `"result":{"resources":[{"name":"n" , "uri":"file:///same"},{"name":"n" , "uri":"b+file:///same"}]}}`, ask(t, c, "1", "resources/list", ""))
	require.Equal(t, `"result":{"resourceTemplates":[{"uriTemplate":"file:///{x}","name":"t"},{"uriTemplate":"b+file:///{x}","name":"t"}]}}`, ask(t, c, "1", "resources/templates/list", ""))
	for uri, want := range map[string]string{
		`file:///same`:            `"result":{"contents":[{"uri":"file:///same","text":"a"}]}}`,
		`b+file:///same`:          `"result":{"contents":[{"uri":"b+file:///same","text":"b"}]}}`,
		`\u0062+file:///same`:     `"result":{"contents":[{"uri":"b+file:///same","text":"b"}]}}`,
		`b+file:///never\/listed`: `"result":{"contents":[{"uri":"b+file:///same","text":"b"}]}}`,
		`b+file:///nowhere`:       `"error":{"code":-32002,"message":"no","data":{"uri":"b+file:///nowhere"}}}`,
	} {
		require.Equal(t, want, ask(t, c, "2", "resources/read", `{"uri":"`+uri+`"}`), uri)
	}
	require.Equal(t, `"result":{"content":[{"type":"resource_link","uri":"b+file:///same","name":"b"}]}}`, ask(t, c, "3", "tools/call", `{"name":"b__t"}`))
	require.Equal(t, `"result":{"content":[{"type":"resource_link","uri":"file:///same","name":"a"}]}}`, ask(t, c, "3", "tools/call", `{"name":"a__t"}`))
	require.Equal(t, `"result":{"completion":{"values":["b"]}}}`, ask(t, c, "4", "completion/complete", `{"ref":{"type":"ref/resource","uri":"b+file:///{x}"},"argument":{"name":"x","value":""}}`))
	require.Equal(t, `"result":{}}`, ask(t, c, "5", "resources/subscribe", `{"uri":"b+file:///same"}`))
	b.Way(0).Say(updated("file:///same"))
	require.Equal(t, updated("b+file:///same"), c.Next())
	a.Way(0).Say(updated("file:///same"))
	require.Empty(t, c.Unread())
	require.Equal(t, `"result":{}}`, ask(t, c, "6", "resources/unsubscribe", `{"uri":"b+file:///same"}`))
	for _, asked := range servers["b"]() {
		require.NotContains(t, asked, "b+")
	}
	require.Contains(t, servers["b"](), `resources/read {"uri":"file:///never\/listed"}`, "no other byte changes")
	require.Zero(t, g.Stats().Conflicts)
	_, err = gateway.New(gateway.Options{Upstreams: []gateway.Upstream{{Name: "a", Opener: a, URIPrefix: "1:"}}})
	require.ErrorContains(t, err, "URIPrefix")
}
