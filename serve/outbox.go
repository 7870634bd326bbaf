package serve

import (
	"io"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// writeBytes is the most that one write hands to the stream, so that a slow
	// peer that takes something is told from one that takes nothing.
	writeBytes = 256 << 10
	// keepBytes is the largest buffer that is kept between writes.
	keepBytes = 256 << 10
)

// outbox holds what waits to be written to one stream: frames back to back, each
// ended by a newline, and a goroutine that writes all there is in one call. While
// it writes one buffer the other fills.
//
// Q1: exactly one wake-up follows each sleep of the writer.
// Q2: frames go out in the order of add, whole, or the stream ends.
// Q3: each ack is called once: after the write that held its frame, or with what
// ended the stream.
type outbox struct {
	limit int
	stall time.Duration // how long the stream may take nothing; not positive is for ever
	// giveUp closes the stream, for the reason given; under no lock.
	giveUp func(error)
	// drained is called, by the writer and under no lock, when there is room again
	// after full.
	drained func()

	mu       sync.Mutex // protects the fields below
	buf      []byte
	frames   int
	acks     []func(error)
	wasFull  bool          // full said so since the last write
	room     chan struct{} // closed by the next write; nil when nobody waits
	sleeping bool
	err      error // what ended the stream
	ending   bool  // nothing is added any more
	wake     chan struct{}
	over     chan struct{} // closed when the writer has ended

	held atomic.Int64 // bytes in buf and being written

	wakes, writes, written atomic.Uint64
}

func newOutbox(limit int, stall time.Duration) *outbox {
	return &outbox{limit: limit, stall: stall, wake: make(chan struct{}, 1), over: make(chan struct{})}
}

// add queues a frame. It never waits: who can, asks full before. An ack may be
// nil. After the stream's end it returns what ended it, and ack is not called.
func (b *outbox) add(frame []byte, ack func(error)) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.err != nil {
		return b.err
	}
	if b.ending {
		return ErrStopped
	}
	b.buf = append(b.buf, frame...)
	b.buf = append(b.buf, '\n')
	b.frames++
	b.held.Add(int64(len(frame) + 1))
	if ack != nil {
		b.acks = append(b.acks, ack)
	}
	if b.sleeping {
		b.sleeping = false
		b.wake <- struct{}{}
	}
	return nil
}

// full reports whether times the limit is used up, and gives a channel that is
// closed when that may have changed.
func (b *outbox) full(times int) (<-chan struct{}, bool) {
	if b.held.Load() < int64(times)*int64(b.limit) {
		return nil, false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.held.Load() < int64(times)*int64(b.limit) || b.err != nil {
		return nil, false
	}
	b.wasFull = true
	if b.room == nil {
		b.room = make(chan struct{})
	}
	return b.room, true
}

// end lets the writer write what is queued and then end.
func (b *outbox) end() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ending = true
	if b.sleeping {
		b.sleeping = false
		b.wake <- struct{}{}
	}
}

// run writes until end or a failed write, whose error it returns.
func (b *outbox) run(to io.Writer) error {
	defer close(b.over)
	var timer *time.Timer
	var stalled atomic.Bool
	if b.stall > 0 {
		timer = time.AfterFunc(b.stall, func() {
			stalled.Store(true)
			b.giveUp(ErrStalled) // ends the write
		})
		timer.Stop()
	}
	var spare []byte
	var acks []func(error)
	for {
		buf, toAck, ok := b.take(spare, acks)
		if !ok {
			return nil
		}
		err := b.write(to, buf, timer)
		if stalled.Load() {
			err = ErrStalled
		}
		for _, ack := range toAck {
			ack(err)
		}
		clear(toAck)
		b.done(len(buf), err)
		if err != nil {
			return err
		}
		spare, acks = buf[:0], toAck[:0]
		if cap(spare) > keepBytes {
			spare = nil
		}
	}
}

// take waits for something to write and gives all of it, leaving spare in its
// place. It yields for as long as that brings more, so that handlers that run at
// the same time share a write; a single one in a ping-pong is not made to wait.
func (b *outbox) take(spare []byte, acks []func(error)) (buf []byte, toAck []func(error), ok bool) {
	for before := 0; ; {
		b.mu.Lock()
		switch {
		case b.frames == 0 && b.ending:
			b.mu.Unlock()
			return nil, nil, false
		case b.frames == 0:
			b.sleeping = true
			b.mu.Unlock()
			<-b.wake
			b.wakes.Add(1)
		case b.frames > 1 && b.frames > before && len(b.buf) < writeBytes/2:
			before = b.frames
			b.mu.Unlock()
			runtime.Gosched()
		default:
			buf, toAck = b.buf, b.acks
			b.buf, b.acks, b.frames = spare, acks, 0
			b.mu.Unlock()
			return buf, toAck, true
		}
	}
}

func (b *outbox) write(to io.Writer, buf []byte, timer *time.Timer) error {
	for len(buf) > 0 {
		piece := buf[:min(len(buf), writeBytes)]
		if timer != nil {
			timer.Reset(b.stall)
		}
		n, err := to.Write(piece)
		if timer != nil {
			timer.Stop()
		}
		b.writes.Add(1)
		b.written.Add(uint64(n))
		if err == nil && n < len(piece) {
			err = io.ErrShortWrite
		}
		if err != nil {
			return err
		}
		buf = buf[len(piece):]
	}
	return nil
}

// done notes that a buffer was written, or that the stream has ended.
func (b *outbox) done(n int, err error) {
	b.mu.Lock()
	b.held.Add(-int64(n))
	var acks []func(error)
	if err != nil {
		b.err = err
		b.buf, b.frames, acks, b.acks = nil, 0, b.acks, nil
	}
	tell := b.wasFull && err == nil
	b.wasFull = false
	if b.room != nil {
		close(b.room)
		b.room = nil
	}
	b.mu.Unlock()
	for _, ack := range acks {
		ack(err)
	}
	if tell && b.drained != nil {
		b.drained()
	}
}
