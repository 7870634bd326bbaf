package serve

import (
	"errors"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/mcp"
)

// batch is what is seen of an array before the reducer takes it.
type batch struct {
	ids     []codec.ID // of the requests in it, each once
	repeats bool       // two of its requests have one id
	deep    bool       // it is nested too deep
	broken  error      // it begins like an array and is no JSON text
}

func lookIntoBatch(frame []byte, depth int) (b batch) {
	o := codec.ScanOptions{MaxDepth: depth}
	seen := make(map[codec.ID]struct{})
	for element, err := range codec.SplitBatch(frame, o) {
		switch {
		case errors.Is(err, codec.ErrTooDeep):
			b.deep = true
		case element == nil && !errors.Is(err, codec.ErrBatch):
			b.broken = err
		case err == nil:
			id, ok := batchedID(element, o)
			if !ok {
				continue
			}
			if _, twice := seen[id]; twice {
				b.repeats = true
				continue
			}
			seen[id] = struct{}{}
			b.ids = append(b.ids, id)
		}
	}
	return b
}

// batchedID is the id under which an element of a batch is answered, if it is: that
// of a request, or of what would be one.
func batchedID(element []byte, o codec.ScanOptions) (codec.ID, bool) {
	m, err := codec.Parse(element, o)
	if err == nil {
		return m.ID(), m.Kind == codec.KindRequest
	}
	return requestID(element)
}

// array takes a frame that is an array. Where the revision has no batches each
// request in it is refused under its own id, so that nobody waits for an answer.
func (d *duplex) array(m *codec.Message, err error) {
	b := lookIntoBatch(m.Frame(), d.server.o.MaxDepth)
	switch {
	case b.deep:
		d.tooDeep(m)
	case b.broken != nil:
		d.server.counts.unreadable.Add(1)
		d.dropped(Stray{Reason: StrayUnreadable, Frame: m.Frame(), Err: b.broken})
		d.take(m, nil, nil)
	case d.revision().HasBatches():
		d.takeBatch(m.Frame(), &b)
	default:
		d.server.counts.unreadable.Add(1)
		d.dropped(Stray{Reason: StrayUnsupported, Frame: m.Frame(), Err: err})
		if len(b.ids) == 0 {
			d.take(m, nil, nil)
		}
		for _, id := range b.ids {
			d.refuse(id, codec.CodeInvalidRequest, "batches are not supported")
		}
	}
}

// takeBatch gives a batch to the connection, without the requests in it whose ids
// are in flight, on the connection or within the batch. They are refused as they
// would be alone, and the others do not suffer for them.
func (d *duplex) takeBatch(frame []byte, b *batch) {
	ids := b.ids
	if b.repeats || d.flies(ids...) {
		if frame, ids = d.withoutDuplicates(frame); frame == nil {
			return
		}
	}
	in := delivery{exchange: mcp.NewExchangeID(), frame: frame, ids: ids, caller: d.caller}
	if err := d.receive(&in); err != nil {
		for _, id := range ids {
			d.refuse(id, codec.CodeInternal, refusalText(err))
		}
	}
}

// withoutDuplicates gives what is left of a batch, nil for nothing, and the ids in
// it. Only the reader, which calls this, lets ids begin to fly.
func (d *duplex) withoutDuplicates(frame []byte) (rest []byte, ids []codec.ID) {
	o := codec.ScanOptions{MaxDepth: d.server.o.MaxDepth}
	seen := make(map[codec.ID]struct{})
	rest = []byte{'['}
	for element := range codec.SplitBatch(frame, o) {
		if id, ok := batchedID(element, o); ok {
			if _, twice := seen[id]; twice || d.flies(id) {
				d.server.counts.duplicates.Add(1)
				d.dropped(Stray{Reason: StrayDuplicate, Frame: element, Err: ErrDuplicateID})
				continue
			}
			seen[id] = struct{}{}
			ids = append(ids, id)
		}
		if len(rest) > 1 {
			rest = append(rest, ',')
		}
		rest = append(rest, element...)
	}
	if len(rest) == 1 {
		return nil, nil
	}
	return append(rest, ']'), ids
}
