package server

import (
	"bufio"
	"bytes"
	"io"
)

// Dropping is c without the lines that ask for [Stuck]: whoever reads it never
// learns of those requests.
func Dropping(c io.ReadWriteCloser) io.ReadWriteCloser {
	return &dropping{ReadWriteCloser: c, in: bufio.NewReaderSize(c, readSize)}
}

type dropping struct {
	io.ReadWriteCloser
	in   *bufio.Reader
	rest []byte // of a line that found no room
}

var stuckMark = []byte(`"` + Stuck + `"`)

// Read returns all whole lines that are at hand and find room, at least a part of
// one.
func (d *dropping) Read(p []byte) (n int, err error) {
	for {
		taken := copy(p[n:], d.rest)
		n += taken
		if d.rest = d.rest[taken:]; len(d.rest) > 0 {
			return n, nil
		}
		if n > 0 && !d.ahead() {
			return n, nil
		}
		text, err := d.in.ReadSlice('\n')
		if err != nil {
			return n, err
		}
		if !bytes.Contains(text, stuckMark) {
			d.rest = text
		}
	}
}

// ahead reports whether another line can be had without waiting.
func (d *dropping) ahead() bool {
	next, _ := d.in.Peek(d.in.Buffered()) // what is buffered is there
	return bytes.IndexByte(next, '\n') >= 0
}
