package node

import (
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"time"

	"github.com/correlator-go/correlator/client"
	"github.com/correlator-go/correlator/conn"
	"github.com/correlator-go/correlator/conn/websocket"
	"github.com/correlator-go/correlator/gateway"
	"github.com/correlator-go/correlator/gateway/config"
	"github.com/correlator-go/correlator/gateway/limit"
	"github.com/correlator-go/correlator/gateway/link"
	"github.com/correlator-go/correlator/gateway/upstream"
)

// built is an upstream with what it was built from, so that one that has not changed is
// kept when the file is read again.
type built struct {
	from config.Upstream
	as   gateway.Upstream
}

// upstreams builds those of c; what before has of them as they are is taken from there.
func (n *Node) upstreams(c *config.Config, before map[string]built) (map[string]built, error) {
	out := make(map[string]built)
	for _, name := range c.Names() {
		u := c.Upstreams[name]
		if u.Isolation == "" {
			u.Isolation = c.Isolation
		}
		if old, ok := before[name]; ok && reflect.DeepEqual(old.from, u) {
			out[name] = old
			continue
		}
		opener, err := n.opener(name, &u)
		if err != nil {
			return nil, c.Mistake("upstreams."+name, err.Error())
		}
		out[name] = built{u, optionsOf(name, &u, opener)}
	}
	return out, nil
}

func optionsOf(name string, u *config.Upstream, opener link.Opener) gateway.Upstream {
	out := gateway.Upstream{
		Name: name, Opener: opener, Plain: u.Protocol == "jsonrpc", Isolation: isolation(u.Isolation), URIPrefix: u.URIPrefix,
		Timeout: u.Deadlines.Total, IdleTimeout: u.Deadlines.Idle, OpenTimeout: u.OpenTimeout,
		MaxWays: u.MaxWays, IdleAfter: u.Idle, HedgeAfter: u.Hedge,
		BackoffMin: u.RestartBackoff.Min, BackoffMax: u.RestartBackoff.Max, BackoffStable: u.RestartBackoff.Stable,
		Limit:   limitOf(u.Limits, u.Deadlines.Queue),
		Breaker: gateway.Breaker{Failures: max(u.Breaker.Failures, 0), Delay: max(u.Breaker.Delay, 0)},
	}
	if u.Retry != nil && !*u.Retry {
		out.Retries = -1
	}
	for method, d := range u.Methods {
		if out.Methods == nil {
			out.Methods = make(map[string]gateway.Deadlines)
		}
		out.Methods[method] = gateway.Deadlines{Queue: d.Queue, Idle: d.Idle, Total: d.Total}
	}
	return out
}

func limitOf(l config.Limits, wait time.Duration) limit.Options {
	return limit.Options{MaxInFlight: l.InFlight, MaxQueued: l.Queued, MaxQueuedClient: l.QueuedPerClient, QueueWait: wait}
}

func isolation(word string) gateway.Isolation {
	switch word {
	case "shared":
		return gateway.Shared
	case "identity":
		return gateway.PerIdentity
	}
	return gateway.PerSession
}

// opener is the way that the file names. Its error has no secrets in it.
func (n *Node) opener(name string, u *config.Upstream) (link.Opener, error) {
	if len(u.Command) > 0 {
		command := conn.Command{Path: u.Command[0], Args: u.Command[1:], Dir: u.Dir, Env: environment(u.Env), Stderr: n.childLog(name)}
		if n.o.Guard != nil {
			command.Guard = n.o.Guard
		}
		if n.member != nil {
			command.Grace, command.TermGrace = n.member.o.ChildGrace()
		}
		return n.member.opener(name, u, upstream.Child(command, conn.Options{})), nil
	}
	address, err := url.Parse(u.URL)
	if err != nil {
		return nil, errNoAddress
	}
	files := u.TLS
	if files == nil {
		files = &config.TLS{}
	}
	secure, err := upstream.TLS{Roots: files.CA, Certificate: files.Cert, Key: files.Key}.Config()
	if err != nil {
		return nil, err
	}
	header := make(http.Header)
	for k, v := range u.Headers {
		header.Set(k, v)
	}
	switch address.Scheme {
	case "unix":
		return upstream.Dial("unix", filepath.FromSlash(address.Opaque+address.Path), conn.Options{}), nil
	case "tcp":
		if u.TLS != nil {
			return upstream.DialTLS(address.Host, secure, conn.Options{}), nil
		}
		return upstream.Dial("tcp", address.Host, conn.Options{}), nil
	case "ws", "wss":
		return upstream.WebSocket(u.URL, upstream.WebSocketOptions{Dial: websocket.DialOptions{Header: header, TLS: secure}})
	}
	return upstream.HTTP(client.HTTP{Endpoint: u.URL, TLS: secure, Header: header}, upstream.HTTPOptions{})
}

// environment is ours with more; nil is ours.
func environment(more map[string]string) []string {
	if len(more) == 0 {
		return nil
	}
	out := os.Environ()
	names := make([]string, 0, len(more))
	for name := range more {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		out = append(out, name+"="+more[name]) // the last one of a name counts
	}
	return out
}
