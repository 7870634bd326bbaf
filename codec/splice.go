package codec

import (
	"bytes"
	"slices"
)

// Edit is the replacement of one part of a frame: an id, a token, a member's
// value.
type Edit struct {
	// Span is what is replaced, taken from the frame's [Envelope]. With Off ==
	// End, Off not 0, Text is inserted.
	Span Span
	// Text is what stands there instead: JSON text where the span covers one. It
	// is copied.
	Text []byte
}

// AppendSplice appends frame to dst with the edits made and every other byte as
// it is. The edits must be in the order of the frame and must not overlap; a span
// that is absent, or lies outside the frame, is a misuse that panics. dst must
// not overlap frame.
func AppendSplice(dst, frame []byte, edits ...Edit) []byte {
	size, at := len(frame), uint32(0)
	for i := range edits {
		s := edits[i].Span
		if s.Off < at || s.End < s.Off || s.End == 0 {
			panic("codec: AppendSplice with edits that are absent, overlap or are out of order")
		}
		at = s.End
		size += len(edits[i].Text) - s.Len()
	}
	dst, at = slices.Grow(dst, size), 0
	for i := range edits {
		dst = append(dst, frame[at:edits[i].Span.Off]...)
		dst = append(dst, edits[i].Text...)
		at = edits[i].Span.End
	}
	return append(dst, frame[at:]...)
}

// SpliceInPlace replaces the span s of m's frame by text without copying the
// frame, and keeps the offsets in m right. It touches nothing outside the frame
// but bytes that are nobody's, and reports false, with nothing changed, where
// that cannot be:
//
//   - m must lie in a buffer of a [Reader] or of its own, so that a message from
//     Parse must be retained first, and a detached one cannot be spliced;
//   - nobody else may hold a reference to that buffer;
//   - a longer text needs room: before the frame, where there is nearly always
//     some, or, when m is retained and alone in its buffer, behind it.
//
// Then use [AppendSplice]. The cost is that of moving what stands before s or
// behind it, whichever is shorter, so it does not grow with the frame when s
// stands near either end, as ids do.
//
// Other copies of m must not be used after it. text must not lie in the frame.
// An id's text must be one that ParseID takes; the method's stands between its
// quotes. A Span that the replaced part contained is absent afterwards.
func SpliceInPlace(m *Message, s Span, text []byte) bool {
	c := m.chunk
	if c == nil || !s.Present() || uint64(s.End) > uint64(len(m.frame)) || !c.sole() {
		return false
	}
	by := len(text) - s.Len()
	before, behind := int(s.Off), len(m.frame)-int(s.End)
	start := len(c.b) - cap(m.frame) // the frame keeps the capacity of its chunk
	end := start + len(m.frame)
	to, toEnd := start, end
	switch canHead, canTail := start-by >= 0, by <= 0 || m.lease.holds > 0 && end+by <= len(c.b); {
	case canHead && (before <= behind || !canTail):
		to -= by
		copy(c.b[to:to+before], c.b[start:start+before])
	case canTail:
		toEnd += by
		copy(c.b[toEnd-behind:toEnd], c.b[end-behind:end])
	default:
		return false
	}
	copy(c.b[to+before:], text)
	frame := c.b[to:toEnd]
	c.audit.move(m.frame, frame)
	m.frame = frame
	m.Envelope.shift(s, by)
	m.Envelope.replaced(s.Off, text)
	return true
}

// shift corrects the spans after s became longer by the given bytes.
func (e *Envelope) shift(s Span, by int) {
	for _, p := range [...]*Span{&e.RawID, &e.Method, &e.Params, &e.Result, &e.Error,
		&e.Token, &e.Progress, &e.RequestID, &e.Name, &e.Subscription} {
		switch {
		case p.End <= s.Off: // before s, or absent
		case p.Off >= s.End:
			p.Off = uint32(int(p.Off) + by)
			p.End = uint32(int(p.End) + by)
		case p.Off <= s.Off && p.End >= s.End:
			p.End = uint32(int(p.End) + by)
		default:
			*p = Span{}
		}
	}
}

// replaced corrects what e says about the part at off, whose text is now text.
func (e *Envelope) replaced(off uint32, text []byte) {
	if bytes.IndexByte(text, '\n') >= 0 || bytes.IndexByte(text, '\r') >= 0 {
		e.Flags |= FlagNewline
	}
	switch {
	case e.RawID.Present() && off == e.RawID.Off:
		id, _ := ParseID(text, JSONRPC)
		e.IDKind, e.IntID = id.Kind(), id.num
	case e.Method.Present() && off == e.Method.Off:
		e.Flags &^= FlagMethodEscaped
		if bytes.IndexByte(text, '\\') >= 0 {
			e.Flags |= FlagMethodEscaped
		}
	}
}
