package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/conn"
	"github.com/correlator-go/correlator/mcp"
)

// agree finds the era of the server behind l and agrees with it on a revision. It
// returns the link to be used, or closed: l, or another where the server did not
// outlive the question.
func (c *Client) agree(ctx context.Context, l link) (link, error) {
	peer := c.transport.peer()
	switch {
	case c.o.Era == EraLegacy:
		return l, c.initialize(ctx, l)
	case c.o.Era == EraModern:
		_, err := c.discover(ctx, l)
		return l, err
	case c.o.Eras.isLegacy(peer):
		if err := c.initialize(ctx, l); err == nil || ctx.Err() != nil {
			return l, err
		}
		c.o.Eras.learn(peer, false)
		var err error
		if l, err = c.reopen(ctx, l); err != nil {
			return l, err
		}
	}
	modern, err := c.discover(ctx, l)
	if err == nil || modern || ctx.Err() != nil {
		return l, err
	}
	if l, err = c.reopen(ctx, l); err != nil {
		return l, err
	}
	if err = c.initialize(ctx, l); err == nil {
		c.o.Eras.learn(peer, true)
	}
	return l, err
}

// reopen makes a link that has ended anew: some servers exit when the first thing
// they get is no initialize.
func (c *Client) reopen(ctx context.Context, l link) (link, error) {
	if l.err() == nil {
		return l, nil
	}
	if !c.transport.reopens() {
		return l, l.err()
	}
	_ = l.close() // it has ended already; this sees the child off
	fresh, err := c.transport.open(ctx, c)
	if err != nil {
		return l, err
	}
	return fresh, nil
}

// discover asks a server of the modern era what it has. modern is false when the
// error says that there is none.
func (c *Client) discover(ctx context.Context, l link) (modern bool, err error) {
	revision := mcp.Modern
	for again := false; ; again = true {
		var d mcp.DiscoverResult
		members, err := c.o.members(revision)
		if err != nil {
			return true, fmt.Errorf("client: options: %w", err)
		}
		l.adopt(revision)
		err = c.ask(ctx, l, mcp.MethodDiscover, members, &d)
		if err == nil {
			return c.discovered(l, revision, d)
		}
		l.adopt("")
		failure, ok := errors.AsType[*codec.Error](err)
		if !ok {
			return false, fmt.Errorf("client: %s: %w", mcp.MethodDiscover, err)
		}
		switch failure.Code {
		case mcp.CodeUnsupportedVersion:
			var data mcp.UnsupportedVersionData
			_ = json.Unmarshal(failure.Data, &data) // without it nothing is in common
			next, common := newestCommon(data.Supported)
			// A server that names the very revision it refused is asked once more: it
			// may be one of several that are being brought up to date.
			if !common || again {
				return true, &UnsupportedVersion{Requested: string(revision), Supported: data.Supported, Err: err}
			}
			revision = next
		case mcp.CodeHeaderMismatch, mcp.CodeMissingCapability:
			return true, fmt.Errorf("client: %s: %w", mcp.MethodDiscover, err)
		default:
			return false, fmt.Errorf("client: %s: %w", mcp.MethodDiscover, err)
		}
	}
}

// discovered takes the result of server/discover, asked for with revision.
func (c *Client) discovered(l link, revision mcp.Revision, d mcp.DiscoverResult) (modern bool, err error) {
	best, common := newestCommon(d.SupportedVersions)
	if !common {
		// A server that lists older revisions alone has an initialize.
		older := slices.ContainsFunc(d.SupportedVersions, func(v string) bool { return mcp.Revision(v).IsLegacy() })
		return !older, &UnsupportedVersion{Requested: string(revision), Supported: d.SupportedVersions}
	}
	members, err := c.o.members(best)
	if err != nil {
		return true, fmt.Errorf("client: options: %w", err)
	}
	a := agreement{revision: best, capabilities: d.Capabilities, instructions: d.Instructions, members: members}
	_ = json.Unmarshal(d.Meta[mcp.MetaServerInfo], &a.info) // optional, and nothing depends on it
	c.setAgreement(a)
	l.adopt(best)
	return true, nil
}

// newestCommon is the newest modern revision that both sides have.
func newestCommon(theirs []string) (mcp.Revision, bool) {
	for _, r := range mcp.Revisions() {
		if r.IsModern() && slices.Contains(theirs, string(r)) {
			return r, true
		}
	}
	return "", false
}

// initialize shakes hands with a server of the older era.
func (c *Client) initialize(ctx context.Context, l link) error {
	params, err := json.Marshal(mcp.InitializeParams{
		ProtocolVersion: string(c.o.Legacy), Capabilities: c.o.capabilities(), ClientInfo: c.o.Info,
	})
	if err != nil {
		return fmt.Errorf("client: options: %w", err)
	}
	var r mcp.InitializeResult
	text, err := c.follow(ctx, l, &request{method: mcp.MethodInitialize, params: params})
	if err == nil {
		err = decode(mcp.MethodInitialize, text, &r)
	}
	if err != nil {
		return c.initializeFailed(err)
	}
	revision := mcp.Revision(r.ProtocolVersion)
	if !revision.IsLegacy() {
		return &UnsupportedVersion{Requested: string(c.o.Legacy), Supported: []string{r.ProtocolVersion}}
	}
	c.setAgreement(agreement{
		revision: revision, info: r.ServerInfo, capabilities: r.Capabilities, instructions: r.Instructions,
	})
	l.adopt(revision)
	if err := l.notify(ctx, mcp.NoteInitialized, nil); err != nil {
		return fmt.Errorf("client: %s: %w", mcp.NoteInitialized, err)
	}
	return nil
}

// initializeFailed names the revisions where a server said that it has others.
func (c *Client) initializeFailed(err error) error {
	if failure, ok := errors.AsType[*codec.Error](err); ok {
		var data mcp.UnsupportedVersionData
		if json.Unmarshal(failure.Data, &data) == nil && len(data.Supported) > 0 {
			return &UnsupportedVersion{Requested: string(c.o.Legacy), Supported: data.Supported, Err: err}
		}
	}
	return fmt.Errorf("client: %s: %w", mcp.MethodInitialize, err)
}

// ask makes a call that has no params but the members of _meta, within the time of
// the probe.
func (c *Client) ask(ctx context.Context, l link, method string, members []byte, result any) error {
	params, err := codec.AppendParamsWithMeta(nil, nil, members)
	if err != nil {
		return err
	}
	text, err := c.follow(ctx, l, &request{method: method, params: params, timeout: c.o.ProbeTimeout})
	if err != nil {
		return err
	}
	return decode(method, text, result)
}

// decode reads a result; what cannot be read is an invalid answer.
func decode(method string, text []byte, result any) error {
	if err := codec.DecodeValue(text, result); err != nil {
		return fmt.Errorf("client: %s: %w: %w", method, conn.ErrInvalidAnswer, err)
	}
	return nil
}
