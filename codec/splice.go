package codec

import (
	"bytes"
	"encoding/binary"
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
	if c == nil || s.Off >= s.End || uint64(s.End) > uint64(len(m.frame)) || len(c.B) > math.MaxInt32 || !c.Sole() {
		return false
	}
	by := len(text) - s.Len()
	before, behind := int(s.Off), len(m.frame)-int(s.End)
	start := len(c.B) - cap(m.frame) // the frame keeps the capacity of its chunk
	end := start + len(m.frame)
	to, toEnd := start, end
	switch canHead, canTail := start-by >= 0, by <= 0 || m.lease.holds > 0 && end+by <= len(c.B); {
	case canHead && (before <= behind || !canTail):
		to -= by
		copy(c.B[to:to+before], c.B[start:start+before])
	case canTail:
		toEnd += by
		copy(c.B[toEnd-behind:toEnd], c.B[end-behind:end])
	default:
		return false
	}
	copy(c.B[to+before:], text)
	frame := c.B[to:toEnd]
	c.Audit.Move(m.frame, frame)
	m.frame = frame
	e := &m.Envelope
	switch {
	case s == e.RawID:
		e.shift(s.End, by)
		e.IDKind, e.IntID = plainNumber(text) // not read from the frame, where it was written just now
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
// where the members stand, since peers write them in any order; what a kind of
// message never has is left out.
func (e *Envelope) shift(end uint32, by int) {
	ends, more := uint64(end)|uint64(end)<<32, uint64(by)
	e.RawID.shift(ends, more)
	e.Subscription.shift(ends, more)
	if e.Kind.IsResponse() || e.Kind == KindInvalid {
		e.Result.shift(ends, more)
		e.Error.shift(ends, more)
		if e.Kind != KindInvalid {
			return
		}
	}
	e.Method.shift(ends, more)
	e.Params.shift(ends, more)
	e.Token.shift(ends, more)
	e.Progress.shift(ends, more)
	e.RequestID.shift(ends, more)
	e.Name.shift(ends, more)
}

// shift does both offsets at once, as the halves of a word. They are below 2^31,
// so the top bit of a half that was set stays set where the offset is not below
// the end that is taken from it. One product adds more to the halves that are to
// move: what a negative one borrows from the upper half is right there, since an
// offset moves only where the end above it does.
func (s *Span) shift(ends, more uint64) {
	const tops = 1<<31 | 1<<63
	w := uint64(s.Off) | uint64(s.End)<<32
	w += ((w | tops) - ends) & tops >> 31 * more
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

// plainNumber reads text as an integer, if it is digits of one below 10^16 as it is
// usually written; IDAbsent if it is anything else.
func plainNumber(text []byte) (IDKind, int64) {
	n := len(text)
	if n == 0 || n > 16 || text[0] == '0' && n > 1 {
		return IDAbsent, 0
	}
	low := min(n, 8)
	w := firstBytes(text)
	if nondigits(w)&(1<<(8*uint(low))-1) != 0 {
		return IDAbsent, 0
	}
	value := eightDigits(w, low)
	if high := n - 8; high > 0 {
		w = load64(text, high) >> (64 - 8*uint(high)) // without the digits read already
		if nondigits(w)&(1<<(8*uint(high))-1) != 0 {
			return IDAbsent, 0
		}
		value = value*tens[high] + eightDigits(w, high)
	}
	return IDInt, value
}

// firstBytes is load64(text, 0) where text may be shorter, but not empty: then the
// upper bytes of the word are zeros. Loads that overlap take the place of a loop.
func firstBytes(text []byte) uint64 {
	n := len(text)
	switch {
	case n >= 8:
		return load64(text, 0)
	case n >= 4:
		first, last := binary.LittleEndian.Uint32(text), binary.LittleEndian.Uint32(text[n-4:])
		return uint64(first) | uint64(last)<<(8*uint(n-4))
	}
	return uint64(text[0]) | uint64(text[n/2])<<(8*uint(n/2)) | uint64(text[n-1])<<(8*uint(n-1))
}
