package cluster_test

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/gateway/link"
)

// recorder is the owner of a way that remembers what it was told.
type recorder struct {
	// heard, if it is set, gets each frame, on the way's goroutine.
	heard func(frame string)

	mu     sync.Mutex // guards what follows
	frames []string
	gone   []error
	late   int // told after Gone
	ended  chan struct{}
	calls  atomic.Int64
}

func newRecorder() *recorder { return &recorder{ended: make(chan struct{})} }

func (r *recorder) Receive(_ *link.Burst, m *codec.Message) error {
	frame := string(m.Frame())
	r.mu.Lock()
	r.frames = append(r.frames, frame)
	if len(r.gone) > 0 {
		r.late++
	}
	r.mu.Unlock()
	if r.heard != nil {
		r.heard(frame)
	}
	return nil
}

func (r *recorder) Refused(_ *link.Burst, m *codec.Message, err error) {
	_ = r.Receive(nil, m)
}

func (r *recorder) ReceiveFor(_ int64, b *link.Burst, m *codec.Message) error { return r.Receive(b, m) }
func (r *recorder) Fail(int64, error)                                         {}
func (r *recorder) Dispatch(int64) bool                                       { r.calls.Add(1); return true }

func (r *recorder) Gone(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.gone = append(r.gone, err); len(r.gone) == 1 && r.ended != nil {
		close(r.ended)
	}
}

// sum tells what came of a way that has ended.
func (r *recorder) sum() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return fmt.Sprintf("gone %d, late %d", len(r.gone), r.late)
}

func frame(text string) *link.Frame {
	m, err := codec.Parse([]byte(text), codec.ScanOptions{})
	if err != nil {
		panic(err)
	}
	number, _ := m.ID().Int()
	return &link.Frame{Bytes: m.Frame(), Call: number, Class: link.Ask}
}
