package codec

import (
	"bytes"
	"math"
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
	if c == nil || !s.Present() || uint64(s.End) > uint64(len(m.frame)) || len(c.b) > math.MaxInt32 || !c.sole() {
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
	e := &m.Envelope
	switch {
	case s == e.RawID:
		e.shift(s.End, by)
		e.IDKind, e.IntID = numberBefore(c.b, to+int(e.RawID.End), len(text))
		if e.IDKind == IDAbsent {
			id, _ := ParseID(e.RawID.Of(frame), JSONRPC)
			e.IDKind, e.IntID = id.Kind(), id.num
		}
	case s == e.Token || s == e.Progress || s == e.RequestID || s == e.Name || s == e.Subscription:
		e.shift(s.End, by)
	default:
		e.forgetInside(s)
		e.shift(s.End, by)
		e.replaced(s, text)
	}
	return true
}

// shift corrects every offset from end on, where the frame became longer by the
// given bytes (or shorter). An absent span stays absent. No branch depends on
// where the members stand, since peers write them in any order.
func (e *Envelope) shift(end uint32, by int) {
	ends := uint64(end) | uint64(end)<<32
	more, less := uint64(max(by, 0)), uint64(max(-by, 0))
	e.RawID.shift(ends, more, less)
	e.Result.shift(ends, more, less)
	e.Error.shift(ends, more, less)
	e.Subscription.shift(ends, more, less)
	if e.Kind.IsResponse() && !e.Params.Present() {
		return // the others lie in params, or are the method
	}
	e.Method.shift(ends, more, less)
	e.Params.shift(ends, more, less)
	e.Token.shift(ends, more, less)
	e.Progress.shift(ends, more, less)
	e.RequestID.shift(ends, more, less)
	e.Name.shift(ends, more, less)
}

// shift does both offsets at once, as the halves of a word. They are below 2^31,
// so the top bit of a half that was set stays set where the offset is not below
// the end that is taken from it.
func (s *Span) shift(ends, more, less uint64) {
	const tops = 1<<31 | 1<<63
	w := uint64(s.Off) | uint64(s.End)<<32
	from := ((w | tops) - ends) & tops >> 31
	w += from*more - from*less
	s.Off, s.End = uint32(w), uint32(w>>32)
}

// forgetInside makes the spans absent that lie in s, which is about to be
// replaced, and are not s itself.
func (e *Envelope) forgetInside(s Span) {
	for _, p := range [...]*Span{&e.Token, &e.Progress, &e.RequestID, &e.Name, &e.Subscription} {
		if *p != s && p.Off >= s.Off && p.End <= s.End {
			*p = Span{}
		}
	}
}

// replaced corrects what e says about the member whose span was s and whose text
// is now text.
func (e *Envelope) replaced(s Span, text []byte) {
	if bytes.IndexByte(text, '\n') >= 0 || bytes.IndexByte(text, '\r') >= 0 {
		e.Flags |= FlagNewline
	}
	if e.Method.Present() && s.Off == e.Method.Off {
		e.Flags &^= FlagMethodEscaped
		if bytes.IndexByte(text, '\\') >= 0 {
			e.Flags |= FlagMethodEscaped
		}
	}
}

// numberBefore reads the n bytes of b before end as an integer, if they are digits
// of one below 10^16 as it is usually written; IDAbsent if they are anything else.
func numberBefore(b []byte, end, n int) (IDKind, int64) {
	if end < 16 || n > 16 || b[end-n] == '0' && n > 1 {
		return IDAbsent, 0
	}
	low, high := min(n, 8), n-8
	w := load64(b, end-8) >> (64 - 8*uint(low)) // without the bytes before the digits
	if nondigits(w)&(1<<(8*uint(low))-1) != 0 {
		return IDAbsent, 0
	}
	value := eightDigits(w, low)
	if high > 0 {
		w = load64(b, end-16) >> (64 - 8*uint(high))
		if nondigits(w)&(1<<(8*uint(high))-1) != 0 {
			return IDAbsent, 0
		}
		value += tenTo8 * eightDigits(w, high)
	}
	return IDInt, value
}
