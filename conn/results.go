package conn

const (
	// resultShared is the largest result that shares a block with others.
	resultShared = 256
	// resultBlock bounds a block, and so what a result that is kept can hold.
	resultBlock = 4 * resultShared
)

// results makes the copies that callers own. Short ones are cut from blocks that
// hold a few of their size, which spares three allocations of four; so one that is
// kept holds about four times its size, never more than resultBlock. It belongs to
// the reader.
type results struct{ free []byte }

// copy makes a copy of b in into, memory of a caller's, if that has room.
func (r *results) copy(b, into []byte) []byte {
	n := len(b)
	if n > 0 && n <= cap(into) {
		return append(into[:0], b...)
	}
	if n == 0 || n > resultShared {
		return append([]byte(nil), b...)
	}
	if n > len(r.free) {
		r.free = make([]byte, max(4*n, 64))
	}
	own := r.free[:n:n]
	copy(own, b)
	r.free = r.free[n:]
	return own
}
