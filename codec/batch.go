package codec

import "iter"

// SplitBatch yields the elements of a batch, in order and without copying: each
// is a part of frame, ready for [Scan]. Nothing is kept between two elements, so
// a batch of any length costs no memory.
//
// The whole frame is validated as JSON before the first element comes out, so
// that no part of a broken batch is acted upon. Then the only pair is nil and a
// *[SyntaxError], as it is for an empty batch, which JSON-RPC 2.0 section 6 wants
// answered with one error (it wraps [ErrBatch]), and for a frame that is no
// array. An element that is no object comes with a *SyntaxError beside it, to be
// answered in its place; the elements after it follow. Offsets in errors count
// from the beginning of frame.
//
// MaxDepth counts the batch itself as a level.
func SplitBatch(frame []byte, o ScanOptions) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		s := scanner{e: new(Envelope), lone: o.RefuseLoneSurrogates, maxDepth: depthOf(o.MaxDepth)}
		i, p := s.batch(frame)
		if p != fine {
			yield(nil, newSyntaxError(p, i))
			return
		}
		for frame[i] != ']' {
			end, _ := s.skip(frame, i, 1)
			var err error
			if frame[i] != '{' {
				err = newSyntaxError(errElement, i)
			}
			if !yield(frame[i:end:end], err) {
				return
			}
			if i = s.space(frame, end); frame[i] == ',' {
				i = s.space(frame, i+1)
			}
		}
	}
}

// batch validates the whole frame and returns where its first element begins.
func (s *scanner) batch(b []byte) (int, problem) {
	i := s.space(b, 0)
	if i == len(b) {
		return i, errEmpty
	}
	end, p := s.skip(b, i, 0)
	if p.bad() {
		return end, p
	}
	if end = s.space(b, end); end < len(b) {
		return end, errTrailing
	}
	if b[i] != '[' {
		return i, errNotArray
	}
	first := s.space(b, i+1)
	if b[first] == ']' {
		return i, errEmptyBatch
	}
	return first, fine
}

// PeekID looks for the id of a frame of which only the beginning is at hand,
// say of one that is too large to be read: it is found when it stands whole in
// prefix and nothing before it is malformed. The ID owns its bytes.
func PeekID(prefix []byte, p Profile) (ID, bool) {
	m, _ := Parse(prefix, ScanOptions{Profile: p})
	return m.ID(), m.IDKind != IDAbsent
}
