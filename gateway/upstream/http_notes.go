package upstream

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/correlator-go/correlator/client"
	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/gateway/link"
	"github.com/correlator-go/correlator/mcp"
)

// postPatience is how long a server may take to accept what it need not answer.
const postPatience = 30 * time.Second

// notes are notifications that wait to be posted, one after the other.
type notes struct {
	waiting []note
	bytes   int64 // of those, and of answers on their way
	busy    bool  // somebody posts them
}

type note struct {
	method   string
	frame    []byte
	revision mcp.Revision
	ready    chan struct{} // to be closed when it was posted, or nil
}

// sendNote posts what is answered by nothing: notifications in their order, answers to
// the server at once, since it may wait for one before it takes the other.
func (u *httpWay) sendNote(m *codec.Message) error {
	n := note{method: string(m.Method()), frame: m.Frame(), revision: u.revisionOf(m)}
	u.mu.Lock()
	defer u.mu.Unlock()
	switch size := int64(len(n.frame)); {
	case u.ended:
		return link.ErrGone
	case u.notes.bytes > 0 && u.notes.bytes+size > u.opener.o.NoteBytes:
		return link.ErrFull
	default:
		u.notes.bytes += size
	}
	if m.Kind.IsResponse() {
		u.work.Go(func() { u.postOne(&n) })
		return nil
	}
	if n.method == mcp.NoteInitialized {
		n.ready = make(chan struct{})
		u.ready = n.ready // requests wait for it
	}
	u.notes.waiting = append(u.notes.waiting, n)
	if !u.notes.busy {
		u.notes.busy = true
		u.work.Go(u.postNotes)
	}
	return nil
}

// post is sendNote for a cancel: if there is no room for it the server goes on in vain.
func (u *httpWay) post(frame []byte) {
	if m, err := codec.Parse(frame, codec.ScanOptions{}); err == nil {
		_ = u.sendNote(&m)
	}
}

func (u *httpWay) postNotes() {
	for {
		u.mu.Lock()
		if len(u.notes.waiting) == 0 {
			u.notes.busy, u.notes.waiting = false, nil
			u.mu.Unlock()
			return
		}
		n := u.notes.waiting[0]
		u.notes.waiting = u.notes.waiting[1:]
		u.mu.Unlock()
		u.postOne(&n)
	}
}

// postOne posts n, which is lost if the server does not take it.
func (u *httpWay) postOne(n *note) {
	ctx, cancel := context.WithTimeout(context.Background(), postPatience)
	defer cancel()
	err := u.wire.Post(ctx, &client.Posting{Method: n.method, Frame: n.frame, Revision: n.revision})
	u.mu.Lock()
	u.notes.bytes -= int64(len(n.frame))
	u.mu.Unlock()
	if n.ready != nil {
		close(n.ready)
	}
	if errors.Is(err, client.ErrSessionEnded) {
		u.End(plainly(err))
	}
}

// plainly is err for those who must not see addresses with what is secret in them.
func plainly(err error) error {
	if failed, ok := errors.AsType[*url.Error](err); ok {
		return fmt.Errorf("%s: %w", withoutSecrets(failed.URL), failed.Err)
	}
	return err
}
