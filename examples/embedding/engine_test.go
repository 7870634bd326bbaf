package embedding_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/engine"
)

// A bus is a transport of one's own: numbered frames, here over two channels.
type bus struct {
	pending *engine.Engine[[]byte]
	out     chan<- frame
}

type frame struct {
	id   int64
	body []byte
}

func newBus(in <-chan frame, out chan<- frame) (*bus, error) {
	pending, err := engine.New(engine.Options[[]byte]{
		MaxPending: 10_000,
		Timeout:    5 * time.Second,
		// An answer lies in the reader's memory. What somebody waits for is copied.
		Detach: func(answer, _ []byte) []byte { return bytes.Clone(answer) },
	})
	if err != nil {
		return nil, err
	}
	b := &bus{pending, out}
	go b.read(in)
	return b, nil
}

func (b *bus) Call(ctx context.Context, body []byte) ([]byte, error) {
	call, err := b.pending.Begin(ctx, engine.CallOptions[[]byte]{Method: "bus"})
	if err != nil {
		return nil, err // ErrFull: 10,000 are pending
	}
	if id, _ := call.ID().Int(); b.pending.Dispatch(call.ID()) { // from here on it counts as sent
		select {
		case b.out <- frame{id, body}:
		case <-call.Done(): // it expired, or the bus is gone
		case <-ctx.Done():
		}
	}
	return call.Wait(ctx)
}

func (b *bus) read(in <-chan frame) {
	for f := range in {
		b.pending.Resolve(codec.IntID(f.id), f.body) // false: late, twice or unknown; counted
	}
	b.pending.FailAll(io.ErrUnexpectedEOF, true) // nothing more will come
}

// The engine alone: the program sends, the program reads.
func Example_engine() {
	requests, answers := make(chan frame), make(chan frame)
	b, err := newBus(answers, requests)
	if err != nil {
		panic(err)
	}
	go func() { // the other end answers one request, twice, and goes away during the next
		f := <-requests
		answers <- frame{f.id, append([]byte("hello, "), f.body...)}
		answers <- frame{f.id, []byte("hello again")}
		<-requests
		close(answers)
	}()

	ctx := context.Background()
	answer, err := b.Call(ctx, []byte("bus"))
	fmt.Println(string(answer), err)

	_, err = b.Call(ctx, []byte("anybody?"))
	sent, _ := engine.Sent(err)
	fmt.Println(errors.Is(err, io.ErrUnexpectedEOF), "sent:", sent)

	_, err = b.Call(ctx, []byte("too late"))
	sent, _ = engine.Sent(err)
	fmt.Println(errors.Is(err, io.ErrUnexpectedEOF), "sent:", sent)
	fmt.Println("answered twice:", b.pending.Stats().Duplicate)
	// Output:
	// hello, bus <nil>
	// true sent: true
	// true sent: false
	// answered twice: 1
}
