package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/gateway/link"
	"github.com/correlator-go/correlator/mcp"
)

// greeting is what a server and the gateway agreed on. It is found out once for each
// way to a server; clients that initialize or discover are answered from it.
//
//	asked server/discover ──result──▶ modern
//	   └──anything else──▶ initialize ──result──▶ older
//	                          └──refused──▶ neither: clients are told why
//
// The one client of a way that begins with initialize decides for its server: it is
// asked in the reverse order, and a server of both eras speaks the client's own. No
// connection speaks both, since servers there are that give up the one for the other;
// where calls have streams of their own, initialize is sent beside it as soon as a
// client wants it.
//
// Fields are guarded by the backend's mu.
type greeting struct {
	// params are those of initialize: of the one client that uses the way, or nil for
	// the gateway's own.
	params []byte
	// initialized is the server's result of initialize, nil if there is none; failed is
	// its refusal.
	initialized []byte
	failed      *codec.Error
	// discovered is its result of server/discover, nil if it is of the older era alone,
	// and supported are the revisions that it names.
	discovered []byte
	supported  []string
	// wanted says that a client wants the older era, so that it is begun at once when
	// the way is opened again. asking says that a goroutine is at it, for those who
	// wait.
	wanted, asking bool
	waiting        []greeted
}

// greeted is a call of initialize with the revision that it asks for.
type greeted struct {
	call  *call
	asked string
}

// Implementation is how the gateway names itself to servers that many clients share.
const Implementation = "correlator-gateway"

// ownGreeting claims what some clients can do, since it differs from one to the next: what
// a server asks is refused for those that cannot.
var ownGreeting = []byte(`{"protocolVersion":"` + string(mcp.NewestLegacy) + `","capabilities":{"elicitation":{"form":{},"url":{}},"roots":{"listChanged":true},"sampling":{}},"clientInfo":{"name":"` + Implementation + `","version":"1"}}`)

// discovery asks a server of the modern era what it has.
var discovery = []byte(`{"_meta":{"` + mcp.MetaProtocolVersion + `":"` + string(mcp.Modern) + `","` + mcp.MetaClientInfo + `":{"name":"` + Implementation +
	`","version":"1"},"` + mcp.MetaClientCapabilities + `":{}}}`)

// errUnasked: the server did not outlive the question whether it is modern.
var errUnasked = errors.New("gateway: the server went when it was asked for its era")

// speaks says which eras the server of the way has shown to speak.
func (b *backend) speaks() (modern, older bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.greeting.discovered != nil, b.greeting.initialized != nil
}

// shake finds out what the server speaks and begins it.
func (b *backend) shake(ctx context.Context, l *life) error {
	t := b.target
	b.mu.Lock()
	b.greeting.initialized, b.greeting.failed, b.greeting.discovered, b.greeting.supported = nil, nil, nil, nil
	own, wanted := b.greeting.params != nil, b.greeting.wanted && l.streams
	b.mu.Unlock()
	if own && !l.streams {
		if err := b.initialize(ctx, l); err != nil || b.hasInitialized() {
			return err
		}
	}
	if t.o.ProbeTimeout >= 0 && !t.older.Load() {
		modern, err := b.discover(ctx, l)
		if modern && (err != nil || !wanted) || ctx.Err() != nil {
			return err
		}
		if l.isGone() {
			t.older.Store(true) // some exit when the first thing they get is no initialize
			return errUnasked
		}
	}
	if own && !l.streams {
		return nil // it has been asked
	}
	err := b.initialize(ctx, l)
	if modern, older := b.speaks(); err != nil && modern {
		return nil // the older era is the lesser half of it
	} else if !modern {
		t.older.Store(older) // what is remembered is not trusted: one that fails is asked again
	}
	return err
}

func (b *backend) hasInitialized() bool {
	_, older := b.speaks()
	return older
}

// discover asks a server whether it is modern. modern is false when the error says
// that it is not.
func (b *backend) discover(ctx context.Context, l *life) (modern bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, b.target.o.ProbeTimeout)
	defer cancel()
	result, err := b.ask(ctx, l, mcp.MethodDiscover, discovery)
	if refused, ok := errors.AsType[*codec.Error](err); ok && refused.Code == mcp.CodeUnsupportedVersion {
		var data mcp.UnsupportedVersionData
		_ = json.Unmarshal(refused.Data, &data) // without it nothing is in common
		if !slices.ContainsFunc(data.Supported, isOlder) {
			return true, fmt.Errorf("%s: no common revision: %w", mcp.MethodDiscover, err)
		}
	}
	if err != nil {
		return false, err
	}
	var d mcp.DiscoverResult
	if err := codec.DecodeValue(result, &d); err != nil {
		return false, err
	}
	if !slices.Contains(d.SupportedVersions, string(mcp.Modern)) {
		older := slices.ContainsFunc(d.SupportedVersions, isOlder)
		return !older, fmt.Errorf("%s: no common revision: the server has %q", mcp.MethodDiscover, d.SupportedVersions)
	}
	b.mu.Lock()
	b.greeting.discovered, b.greeting.supported = result, d.SupportedVersions
	b.mu.Unlock()
	b.noteEras()
	l.adopt(string(mcp.Modern))
	return true, nil
}

func isOlder(v string) bool { return mcp.Revision(v).IsLegacy() }

// initialize makes the handshake of the older era. A server's refusal is no error, but
// kept for those who ask.
func (b *backend) initialize(ctx context.Context, l *life) error {
	b.mu.Lock()
	params := b.greeting.params
	b.mu.Unlock()
	if params == nil {
		params = ownGreeting
	}
	result, err := b.ask(ctx, l, mcp.MethodInitialize, params)
	refused, isRefused := errors.AsType[*codec.Error](err)
	if err != nil && !isRefused {
		return fmt.Errorf("initialize: %w", err)
	}
	b.mu.Lock()
	b.greeting.initialized, b.greeting.failed = result, refused
	b.mu.Unlock()
	b.noteEras()
	if isRefused {
		return nil
	}
	var r struct {
		ProtocolVersion string `json:"protocolVersion"`
	}
	_ = codec.DecodeValue(result, &r) // a server without one is none that needs to be told
	l.adopt(r.ProtocolVersion)
	return l.up.Send(&link.Frame{Bytes: codec.AppendNotification(nil, mcp.NoteInitialized, nil), Class: link.Ask}, nil)
}

// adopt tells the way what is spoken on it.
func (l *life) adopt(revision string) {
	if a, ok := l.up.(link.Adopter); ok {
		a.Adopt(revision)
	}
}
