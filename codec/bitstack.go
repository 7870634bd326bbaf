package codec

// bitstack keeps what lies around the current value, one bit a level, 1 for an
// object. The word in use travels in a register; words that are full wait here,
// those of the first levels in place, deeper ones on the heap.
type bitstack struct {
	n    int
	near [8]uint64
	far  *[]uint64 // a pointer, so that storing the slice leaks nothing else of the scanner to the heap
}

// emptyWord marks the bottom of a word: the highest set bit stands below the
// levels pushed so far, so a word holds 63.
const emptyWord = 1

func (d *bitstack) push(w uint64) {
	switch {
	case d.n < len(d.near):
		d.near[d.n] = w
	case d.far == nil:
		d.far = &[]uint64{w}
	default:
		*d.far = append(*d.far, w)
	}
	d.n++
}

// pop returns the word below, emptyWord when there is none.
func (d *bitstack) pop() uint64 {
	if d.n == 0 {
		return emptyWord
	}
	d.n--
	if d.n < len(d.near) {
		return d.near[d.n]
	}
	last := len(*d.far) - 1
	w := (*d.far)[last]
	*d.far = (*d.far)[:last]
	return w
}
