package target

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/conn"
)

// The revisions of MCP that Shake speaks.
const (
	Modern = "2026-07-28" // no handshake; each request carries _meta
	Legacy = "2025-11-25" // initialize first; older ones are accepted too
)

// codeUnsupportedVersion is the modern error for a revision that is not served.
const codeUnsupportedVersion = -32022

// Session is what Shake found out.
type Session struct {
	Version string // the revision in force
	Server  string // name and version as the server gives them, "" if it does not
	// Meta is the JSON text of _meta that every request must carry; nil for none.
	Meta []byte
}

const modernMeta = `{"io.modelcontextprotocol/protocolVersion":"` + Modern + `","io.modelcontextprotocol/clientCapabilities":{},` +
	`"io.modelcontextprotocol/clientInfo":{"name":"loadgen","version":"1"}}`

// Shake asks with server/discover whether the peer speaks the modern revision
// and otherwise greets it with initialize and notifications/initialized. Any
// error but -32022, and no answer within probe, mean an older server, as the
// specification says. ctx bounds the whole.
func Shake(ctx context.Context, c *conn.Conn, probe time.Duration) (Session, error) {
	result, err := c.Call(ctx, "server/discover", []byte(`{"_meta":`+modernMeta+`}`), conn.CallOptions{Timeout: probe})
	if err == nil {
		return discovered(result)
	}
	if e, ok := errors.AsType[*codec.Error](err); ok && e.Code == codeUnsupportedVersion {
		return Session{}, fmt.Errorf("server/discover: the server speaks another modern revision than %s: %w", Modern, err)
	}
	if c.Err() != nil || ctx.Err() != nil {
		return Session{}, fmt.Errorf("server/discover: %w", err)
	}
	return initialize(ctx, c)
}

func discovered(result []byte) (Session, error) {
	var d struct {
		SupportedVersions []string `json:"supportedVersions"`
		Meta              struct {
			Server named `json:"io.modelcontextprotocol/serverInfo"`
		} `json:"_meta"`
	}
	if err := json.Unmarshal(result, &d); err != nil {
		return Session{}, fmt.Errorf("server/discover: unreadable result: %w", err)
	}
	if !slices.Contains(d.SupportedVersions, Modern) {
		return Session{}, fmt.Errorf("server/discover: the server speaks %q, not %s", d.SupportedVersions, Modern)
	}
	return Session{Version: Modern, Server: d.Meta.Server.String(), Meta: []byte(modernMeta)}, nil
}

func initialize(ctx context.Context, c *conn.Conn) (Session, error) {
	const params = `{"protocolVersion":"` + Legacy + `","capabilities":{},"clientInfo":{"name":"loadgen","version":"1"}}`
	result, err := c.Call(ctx, "initialize", []byte(params), conn.CallOptions{})
	if err != nil {
		return Session{}, fmt.Errorf("initialize: %w", err)
	}
	var r struct {
		ProtocolVersion string `json:"protocolVersion"`
		ServerInfo      named  `json:"serverInfo"`
	}
	if err := json.Unmarshal(result, &r); err != nil {
		return Session{}, fmt.Errorf("initialize: unreadable result: %w", err)
	}
	if !slices.Contains([]string{Legacy, "2025-06-18", "2025-03-26", "2024-11-05"}, r.ProtocolVersion) {
		return Session{}, fmt.Errorf("initialize: the server speaks %q", r.ProtocolVersion)
	}
	if err := c.Notify(ctx, "notifications/initialized", nil); err != nil {
		return Session{}, fmt.Errorf("notifications/initialized: %w", err)
	}
	return Session{Version: r.ProtocolVersion, Server: r.ServerInfo.String()}, nil
}

type named struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

func (n named) String() string {
	if n.Version == "" {
		return n.Name
	}
	return n.Name + " " + n.Version
}

// ToolFailed reports whether the result of tools/call says that the tool failed.
// Inside a string the quotes of this text would be escaped, so only a member of
// that name matches; one deep in structured content is taken for the result's
// own, which no known server has.
func ToolFailed(result []byte) bool {
	return bytes.Contains(result, failedTight) || bytes.Contains(result, failedSpaced)
}

var failedTight, failedSpaced = []byte(`"isError":true`), []byte(`"isError": true`)
