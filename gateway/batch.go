package gateway

import (
	"errors"
	"sync"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/gateway/link"
	"github.com/correlator-go/correlator/mcp"
)

// batchMost is how many messages one batch may have.
const batchMost = 1 << 10

// batch gathers the answers to the requests of one array of messages, which become one
// array: revision 2025-03-26 of MCP has them, and plain JSON-RPC. Servers get each
// message by itself, and what concerns one of the requests meanwhile, progress for one,
// reaches the client by itself as well.
type batch struct {
	session *Session

	mu      sync.Mutex // guards the fields below
	answers []byte     // with commas between
	missing int        // answers to come, and one while the batch is being read
}

// hasBatches reports whether the client may send arrays.
func (s *Session) hasBatches() bool {
	if s.g.isPlain() {
		return true
	}
	in := s.introduced.Load()
	return in != nil && in.revision.HasBatches()
}

// batched takes an array of messages; false says that this client sends none.
func (s *Session) batched(b *link.Burst, frame []byte) bool {
	if !s.hasBatches() {
		return false
	}
	var elements [][]byte
	var bad []error
	for element, err := range codec.SplitBatch(frame, codec.ScanOptions{}) {
		if element == nil || len(elements) == batchMost {
			e := &codec.Error{Code: codec.CodeInvalidRequest, Message: "invalid request: an empty batch, or one that is too long"}
			if syntax, ok := errors.AsType[*codec.SyntaxError](err); ok && element == nil {
				e.Code, e.Message = int64(syntax.Code), "invalid request: "+syntax.Problem
			}
			s.g.dropped(UnreadableClient, s, nil)
			s.answerError(b, codec.ID{}, []byte("null"), e)
			return true
		}
		elements, bad = append(elements, element), append(bad, err)
	}
	t := &batch{session: s, missing: 1}
	plain := s.g.isPlain()
	for i, element := range elements {
		m, err := codec.Parse(element, codec.ScanOptions{})
		if bad[i] != nil {
			err = bad[i]
		}
		if plain && bad[i] == nil && (err != nil || m.Flags.Has(codec.FlagNullID)) {
			t.expect()
			pending, failed := s.again(b, element, t)
			if failed != nil {
				id, _ := unreadable(&m, err)
				s.g.dropped(UnreadableClient, s, nil)
				t.add(b, codec.AppendError(nil, plainID(id), failed))
			} else if !pending {
				t.add(b, nil)
			}
			continue
		}
		switch {
		case err != nil:
			id, e := unreadable(&m, err)
			raw := []byte("null")
			if id.Kind() >= codec.IDInt {
				raw = id.Append(nil)
			}
			s.g.dropped(UnreadableClient, s, nil)
			t.expect()
			t.add(b, codec.AppendError(nil, raw, e))
		case m.Flags.Has(codec.FlagNullID):
			s.g.dropped(UnreadableClient, s, nil)
			t.expect()
			t.add(b, codec.AppendError(nil, []byte("null"), &codec.Error{Code: codec.CodeInvalidRequest, Message: "invalid request: null id"}))
		case m.Kind == codec.KindRequest && string(m.Method()) == mcp.MethodInitialize && !plain:
			t.expect()
			t.add(b, codec.AppendError(nil, m.RawID(), &codec.Error{Code: codec.CodeInvalidRequest, Message: "invalid request: initialize in a batch"}))
		case m.Kind == codec.KindRequest:
			t.expect()
			if s.requested(b, &m, t) != nil {
				t.add(b, nil) // an answer would end the request whose id it has
			}
		default:
			_ = s.Receive(b, &m)
		}
	}
	t.add(b, nil)
	return true
}

func (t *batch) expect() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.missing++
}

// add takes an answer, nil for none, and sends all when it is the last.
func (t *batch) add(b *link.Burst, answer []byte) {
	t.mu.Lock()
	if answer != nil {
		if len(t.answers) > 0 {
			t.answers = append(t.answers, ',')
		}
		t.answers = append(t.answers, answer...)
	}
	t.missing--
	last, all := t.missing == 0, t.answers
	t.mu.Unlock()
	switch {
	case !last:
	case len(all) == 0 && t.session.peer.Alone:
		t.session.send(b, &link.Frame{}) // whose response waits for this
	case len(all) > 0:
		t.session.send(b, &link.Frame{Bytes: append(append([]byte{'['}, all...), ']')})
	}
}

// deliver gives the client its answer to c.
func (c *call) deliver(b *link.Burst, f *link.Frame) {
	if r := c.rare.Load(); r != nil && r.batch != nil {
		r.batch.add(b, f.AppendTo(nil))
		return
	}
	c.session.send(b, f)
}

// unbatch says that c gets no answer.
func (c *call) unbatch() {
	if r := c.rare.Load(); r != nil && r.batch != nil {
		r.batch.add(nil, nil)
	}
}

// batched takes an array of a server's messages apart; false says that it is none.
func (l *life) batched(burst *link.Burst, frame []byte) bool {
	some := false
	for element, err := range codec.SplitBatch(frame, codec.ScanOptions{}) {
		if element == nil {
			return some
		}
		some = true
		m, failed := codec.Parse(element, codec.ScanOptions{})
		if failed == nil {
			failed = err
		}
		if failed != nil {
			l.Refused(burst, &m, failed)
			continue
		}
		_ = l.Receive(burst, &m)
	}
	return some
}
