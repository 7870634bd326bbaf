package target

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"github.com/correlator-go/correlator/client"
	"github.com/correlator-go/correlator/conn"
	"github.com/correlator-go/correlator/internal/load/drive"
	"github.com/correlator-go/correlator/mcp"
)

// Session is what Shake found out.
type Session struct {
	Version string // the revision in force
	Server  string // name and version as the server gives them, "" if it does not
	// Meta is the JSON text of _meta that every request must carry; nil for none, and
	// over HTTP, where the client puts it in.
	Meta []byte
}

// Greeting is how Shake greets.
type Greeting struct {
	// Era says which revisions to try.
	Era client.Era
	// Probe is how long a server may leave the question whether it is modern
	// unanswered. Zero is the client's default.
	Probe time.Duration
}

func (g Greeting) apply(o *client.Options) {
	o.Info = mcp.Implementation{Name: "loadgen", Version: "1"}
	o.Era, o.ProbeTimeout = g.Era, g.Probe
	o.Eras = new(client.Eras) // a load test asks anew: the server may be another one by now
}

// ParseEra reads the word of an era: auto, modern or older.
func ParseEra(text string) (client.Era, error) {
	switch text {
	case "auto":
		return client.EraAuto, nil
	case "modern":
		return client.EraModern, nil
	case "older":
		return client.EraLegacy, nil
	}
	return 0, fmt.Errorf("era %q: want auto, modern or older", text)
}

// Shake greets the peer as a client of package client does, and asks first which era
// it is of unless g says that. ctx bounds the whole.
func Shake(ctx context.Context, l drive.Link, g Greeting) (Session, error) {
	switch l := l.(type) {
	case *HTTPLink:
		return l.greet(ctx, g)
	case *conn.Conn:
		var o client.Options
		g.apply(&o)
		c, err := client.Connect(ctx, client.Over(l), o)
		if err != nil {
			return Session{}, err
		}
		return sessionOf(c, c.RequestMeta()), nil
	}
	return Session{}, fmt.Errorf("target: a %T speaks no MCP", l)
}

func sessionOf(c *client.Client, meta []byte) Session {
	server := c.ServerInfo()
	name := server.Name
	if server.Version != "" {
		name += " " + server.Version
	}
	return Session{Version: string(c.Revision()), Server: name, Meta: meta}
}

// ToolFailed reports whether the result of tools/call says that the tool failed.
// Inside a string the quotes of this text would be escaped, so only a member of
// that name matches; one deep in structured content is taken for the result's
// own, which no known server has.
func ToolFailed(result []byte) bool {
	return bytes.Contains(result, failedTight) || bytes.Contains(result, failedSpaced)
}

var failedTight, failedSpaced = []byte(`"isError":true`), []byte(`"isError": true`)
