package conn_test

import (
	"bufio"
	"io"
	"sync"

	"github.com/correlator-go/correlator/codec"
)

// newTape is a stream whose two directions are unbounded buffers: a write never
// blocks, and one Write is seen as one.
func newTape() (ours, theirs *tape) {
	there, back := newReel(), newReel()
	return &tape{in: back, out: there}, &tape{in: there, out: back}
}

type tape struct{ in, out *reel }

func (t *tape) Read(p []byte) (int, error)  { return t.in.read(p) }
func (t *tape) Write(p []byte) (int, error) { return t.out.write(p) }

func (t *tape) Close() error {
	t.in.close()
	t.out.close()
	return nil
}

func (t *tape) lines() *bufio.Reader { return bufio.NewReader(t) }
func (t *tape) say(line string)      { _, _ = t.Write([]byte(line + "\n")) }

// reel is one direction. It waits on a channel, as synctest wants.
type reel struct {
	mu    sync.Mutex
	data  []byte
	over  bool
	grown chan struct{}
}

func newReel() *reel { return &reel{grown: make(chan struct{}, 1)} }

func (r *reel) write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.over {
		return 0, io.ErrClosedPipe
	}
	r.data = append(r.data, p...)
	r.tellLocked()
	return len(p), nil
}

func (r *reel) read(p []byte) (int, error) {
	for {
		r.mu.Lock()
		n := copy(p, r.data)
		if r.data = r.data[n:]; len(r.data) == 0 {
			r.data = nil // what was read is not kept alive
		}
		over := r.over
		if len(r.data) > 0 || over {
			r.tellLocked()
		}
		r.mu.Unlock()
		switch {
		case n > 0:
			return n, nil
		case over:
			return 0, io.EOF
		}
		<-r.grown
	}
}

func (r *reel) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.over = true
	r.tellLocked()
}

func (r *reel) tellLocked() {
	select {
	case r.grown <- struct{}{}:
	default:
	}
}

// answerLines answers every request on the tape with its params.
func answerLines(theirs *tape) {
	frames := codec.NewReader(theirs, codec.ReaderOptions{})
	var m codec.Message
	var out []byte
	for frames.ReadMessage(&m) == nil {
		if m.Kind == codec.KindRequest {
			out = append(codec.AppendResult(out, m.RawID(), m.Params()), '\n')
		}
		if frames.Buffered() == 0 {
			_, _ = theirs.Write(out)
			out = out[:0]
		}
	}
}

// rest is what was written and not read.
func (r *reel) rest() []byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.data
}
