package embedding_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"slices"
	"sync"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/engine"
)

// A relay passes what many clients ask on to one upstream. There every request has
// an id of the engine; here each client has its own, as it wrote it.
type relay struct {
	pending *engine.Engine[codec.Message]

	writing  sync.Mutex
	upstream io.Writer
}

// forward passes on a request, which it borrows. reply gets a frame for the client,
// once, and borrows it out in turn: it must not block.
func (r *relay) forward(ctx context.Context, m *codec.Message, reply func(frame []byte)) error {
	own := bytes.Clone(m.RawID()) // outlives the frame it stands in
	call, err := r.pending.Begin(ctx, engine.CallOptions[codec.Message]{
		Method: string(m.Method()),
		Notify: func(o engine.Outcome[codec.Message]) { reply(answerTo(own, &o)) },
	})
	if err != nil {
		return err // ErrFull: the client is told that the gateway is busy
	}
	frame := codec.LineFramer{}.Open(nil)
	frame = codec.AppendSplice(frame, m.Frame(), codec.Edit{Span: m.Envelope.RawID, Text: call.ID().Append(nil)})
	if frame, err = (codec.LineFramer{}).Seal(frame, 0); err != nil {
		call.Cancel(err)
		return nil // reply has it
	}
	r.writing.Lock()
	defer r.writing.Unlock()
	if r.pending.Dispatch(call.ID()) {
		_, err = r.upstream.Write(frame)
	}
	if err != nil {
		r.pending.FailAll(err, true) // a frame that is cut short breaks the stream
	}
	return nil
}

// read takes the upstream's answers. A callback runs inside Resolve, before the
// next read, so it may look at the message where it lies.
func (r *relay) read(from io.Reader) {
	answers := codec.NewReader(from, codec.ReaderOptions{})
	for {
		var m codec.Message
		switch err := answers.ReadMessage(&m); {
		case codec.Recoverable(err): // one bad frame, of which the others know nothing
		case err != nil:
			r.pending.FailAll(err, true)
			return
		case m.Kind.IsResponse():
			r.pending.Resolve(m.ID(), m)
		}
	}
}

// answerTo is the frame that answers the client's request.
func answerTo(own []byte, o *engine.Outcome[codec.Message]) []byte {
	const odd = codec.FlagNoVersion | codec.FlagErrorNull | codec.FlagResultIgnored
	switch m := &o.Value; {
	case o.Err != nil:
		return codec.AppendError(nil, own, &codec.Error{Code: codec.CodeInternal, Message: o.Err.Error()})
	case m.Flags&odd == 0: // every byte but the id stays
		return codec.AppendSplice(nil, m.Frame(), codec.Edit{Span: m.Envelope.RawID, Text: own})
	case m.Kind == codec.KindError:
		return codec.AppendError(nil, own, m.Err())
	default:
		return codec.AppendResult(nil, own, m.Result())
	}
}

// Engine and codec: three clients, whose ids collide, over one upstream, which
// answers the last first and spells numbers in its own way.
func Example_relay() {
	pending, err := engine.New(engine.Options[codec.Message]{})
	if err != nil {
		panic(err)
	}
	near, far := net.Pipe()
	r := &relay{pending: pending, upstream: near}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		r.read(near)
	}()
	go func() { // the upstream
		in := codec.NewReader(far, codec.ReaderOptions{})
		var out [][]byte
		for len(out) < 3 {
			var m codec.Message
			if in.ReadMessage(&m) != nil {
				return
			}
			out = append(out, fmt.Appendf(nil, `{"result":{"pi":3.140, "said":%s},"id":%s,"jsonrpc":"2.0"}`+"\n", m.Params(), m.RawID()))
		}
		slices.Reverse(out)
		_, _ = far.Write(bytes.Join(out, nil))
		_ = far.Close()
	}()

	replies := make(chan string, 3)
	for _, text := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"say","params":["a"]}`,
		`{"jsonrpc":"2.0","id":"1","method":"say","params":["b"]}`,
		`{"id":9007199254740993, "method":"say", "params":["c"], "jsonrpc":"2.0"}`,
	} {
		m, err := codec.Parse([]byte(text), codec.ScanOptions{})
		if err != nil {
			panic(err)
		}
		if err := r.forward(context.Background(), &m, func(frame []byte) { replies <- string(frame) }); err != nil {
			panic(err)
		}
	}
	for range 3 {
		fmt.Println(<-replies)
	}
	<-ended
	// Output:
	// {"result":{"pi":3.140, "said":["c"]},"id":9007199254740993,"jsonrpc":"2.0"}
	// {"result":{"pi":3.140, "said":["b"]},"id":"1","jsonrpc":"2.0"}
	// {"result":{"pi":3.140, "said":["a"]},"id":1,"jsonrpc":"2.0"}
}
