package codec

import "io"

// LazyReader is what a Reader's stream may be besides an io.Reader: one that waits
// without a buffer. A thousand idle connections then hold no buffers at all.
type LazyReader interface {
	io.Reader
	// ReadLazily is Read into a buffer that it borrows when there may be something to
	// read. Whoever has nothing better borrows one and calls Read.
	ReadLazily(from Lender) (n int, err error)
}

// Lender lends ReadLazily its buffer. It is for that call alone, and for the goroutine
// that makes it.
type Lender interface {
	// Lend gives the buffer, never an empty one, which is borrowed until Return or
	// the end of ReadLazily. It may be asked for once more after a Return.
	Lend() []byte
	// Return takes it back, with nothing read, before a wait.
	Return()
}

// lender is the Reader as its stream sees it.
type lender Reader

// Lend implements Lender. There is room: fill has made it, or nothing is unread.
func (l *lender) Lend() []byte {
	r := (*Reader)(l)
	if r.chunk == nil || r.start == r.end {
		r.makeRoom()
	}
	return r.chunk.B[r.end:]
}

// Return implements Lender. The beginning of a frame stays where it is.
func (l *lender) Return() {
	if r := (*Reader)(l); r.start == r.end {
		r.drop()
		r.start, r.end, r.quickly = 0, 0, notQuickly
	}
}

// eager is a stream that is not lazy: it waits in a buffer.
type eager struct{ io.Reader }

// ReadLazily implements LazyReader.
func (e *eager) ReadLazily(from Lender) (int, error) { return e.Read(from.Lend()) }
