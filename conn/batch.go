package conn

import (
	"sync"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/internal/invariants"
)

// batchAnswer gathers the answers to the requests of one array. It goes out
// when the last of them is there; with none it is not sent at all.
type batchAnswer struct {
	conn *Conn

	mu   sync.Mutex // protects the fields below
	left int        // elements without an end, and one for the reader that still splits
	buf  []byte     // answers, separated by commas
}

func newBatchAnswer(c *Conn) *batchAnswer { return &batchAnswer{conn: c, left: 1} }

// expect counts one more element in.
func (b *batchAnswer) expect() {
	b.mu.Lock()
	b.left++
	b.mu.Unlock()
}

// add ends one element: with its answer, or with nil when it gets none. wait
// lets the last one wait for room. What would be above MaxFrameOut goes out in
// several arrays: a peer can ask for much more than it sends.
func (b *batchAnswer) add(answer []byte, wait bool) {
	b.mu.Lock()
	var full []byte
	if len(b.buf) > 0 && len(answer) > 0 {
		if len(b.buf)+len(answer) > b.conn.o.MaxFrameOut {
			full, b.buf = b.buf, nil
		} else {
			b.buf = append(b.buf, ',')
		}
	}
	b.buf = append(b.buf, answer...)
	b.left--
	buf := b.buf
	last := b.left == 0
	if invariants.Enabled {
		invariants.Check(b.left >= 0, "an element of a batch ended twice")
	}
	b.mu.Unlock()
	if len(full) > 0 {
		b.send(full, wait)
	}
	if last && len(buf) > 0 {
		b.send(buf, wait)
	}
}

// send queues one array of answers, which stand in buf.
func (b *batchAnswer) send(buf []byte, wait bool) {
	c := b.conn
	n := takeNode(len(buf) + FrameOverhead)
	n.buf = c.o.Framer.Open(n.buf)
	n.buf = append(n.buf, '[')
	n.buf = append(n.buf, buf...)
	n.buf = append(n.buf, ']')
	n.charge = len(n.buf)
	if !c.room.try(n.charge) {
		switch {
		case wait && c.waitRoom(n.charge, nil, nil) == nil:
		case !wait && c.room.force(n.charge):
		default:
			c.counts.answersDropped.Add(1)
			return
		}
	}
	c.seal(n, 0)
	n.frames = 1
	c.line.push(n, atOnce)
}

// batched serves a frame that is an array.
func (c *Conn) batched(frame []byte) {
	if c.o.Batches == RefuseBatches {
		c.counts.batchesRefused.Add(1)
		c.stray(StrayBatch, frame, len(frame), codec.ErrBatch)
		if c.o.AnswerUnreadable {
			c.answerNow(c.noID(), &codec.Error{Code: codec.CodeInvalidRequest, Message: "batches are not supported"})
		}
		return
	}
	var b *batchAnswer
	for element, err := range codec.SplitBatch(frame, c.scan) {
		if element == nil {
			// Not one JSON text, or empty: one error, which is no array.
			c.counts.unreadable.Add(1)
			c.stray(StrayUnreadable, frame, len(frame), err)
			if emptyBatch(err) || c.o.AnswerUnreadable {
				c.answerNow(c.noID(), refusal(err))
			}
			return
		}
		if b == nil {
			b = newBatchAnswer(c)
			c.counts.batchesSplit.Add(1)
		}
		var m codec.Message
		if err == nil {
			m, err = codec.Parse(element, c.scan)
		}
		if err != nil {
			c.counts.unreadable.Add(1)
			c.stray(StrayUnreadable, element, len(element), err)
			b.expect()
			b.add(appendAnswer(nil, c.idOr(m.RawID()), nil, refusal(err)), false)
			continue
		}
		c.route(&m, b)
	}
	if b != nil {
		b.add(nil, false)
	}
}
