package fuzz_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// patience bounds a wait for something that must happen by itself; no test of
// this package is ever slow unless it is about to fail.
const patience = 20 * time.Second

// peer is the other end of a connection: it says what it is fed and then ends
// the stream, and keeps what was written to it.
type peer struct {
	cut    func(n int) int
	ready  chan struct{} // closed by feed
	closed chan struct{}
	once   sync.Once

	mu  sync.Mutex // protects the fields below
	in  []byte
	out bytes.Buffer
}

func newPeer(cut func(n int) int) *peer {
	return &peer{cut: cut, ready: make(chan struct{}), closed: make(chan struct{})}
}

func (p *peer) feed(text string) {
	p.mu.Lock()
	p.in = []byte(text)
	p.mu.Unlock()
	close(p.ready)
}

func (p *peer) Read(b []byte) (int, error) {
	select {
	case <-p.ready:
	case <-p.closed:
		return 0, io.ErrClosedPipe
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.in) == 0 {
		return 0, io.EOF
	}
	n := min(len(b), p.cut(len(p.in)))
	copy(b, p.in[:n])
	p.in = p.in[n:]
	return n, nil
}

func (p *peer) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.out.Write(b)
}

func (p *peer) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

// broken says whether anything but whole lines of JSON was written.
func (p *peer) broken() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for line := range bytes.Lines(p.out.Bytes()) {
		if !json.Valid(line) || line[len(line)-1] != '\n' {
			return fmt.Errorf("wrote %q", line)
		}
	}
	return nil
}

func wait(t *testing.T, done <-chan struct{}) {
	t.Helper()
	select {
	case <-done:
	case <-time.After(patience):
		require.Fail(t, "the connection never ended")
	}
}
