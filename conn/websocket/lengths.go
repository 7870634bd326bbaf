package websocket

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
)

// frameMost is the longest frame that is waited for, in bytes, whatever
// Options.ReadLimit says: that one counts what has come, so that the call whose answer is
// too long can be told. What announces more is no message that anybody will see the end of.
const frameMost = 1 << 32

// lengths reads a stream of frames and looks at the length that each begins with: one
// that announces more than frameMost ends the stream at once, not when so many bytes have
// come, which may be never.
type lengths struct {
	src  io.Reader
	head [10]byte // of the header that is being read: without the mask
	had  int      // bytes of head
	skip uint64   // bytes up to the next header
	err  error
}

// Read reads, and is over behind a header that announces too much.
func (l *lengths) Read(p []byte) (int, error) {
	if l.err != nil {
		return 0, l.err
	}
	n, err := l.src.Read(p)
	if l.follow(p[:n]); l.err != nil {
		return n, nil // and that is why there is no more
	}
	return n, err
}

// follow goes over what was read, from header to header.
func (l *lengths) follow(p []byte) {
	for len(p) > 0 && l.err == nil {
		if l.skip > 0 {
			n := min(l.skip, uint64(len(p)))
			l.skip -= n
			p = p[n:]
			continue
		}
		l.head[l.had] = p[0]
		l.had++
		p = p[1:]
		l.announced()
	}
}

// announced takes in a header once all of it is there. RFC 6455, section 5.2.
func (l *lengths) announced() {
	if l.had < 2 {
		return
	}
	length := uint64(l.head[1] & 0x7f)
	switch {
	case length == 126:
		if l.had < 4 {
			return
		}
		length = uint64(binary.BigEndian.Uint16(l.head[2:]))
	case length == 127:
		if l.had < 10 {
			return
		}
		length = binary.BigEndian.Uint64(l.head[2:])
	}
	if length > frameMost {
		l.err = &announcedError{length}
		return
	}
	l.skip, l.had = length, 0
	if l.head[1]&0x80 != 0 {
		l.skip += 4 // the mask
	}
}

// announcedError is ErrReadLimit of a frame that has not come.
type announcedError struct{ length uint64 }

// Error tells the length.
func (e *announcedError) Error() string {
	return fmt.Sprintf("%v: a frame of %d bytes is announced", ErrReadLimit, e.length)
}

// Unwrap gives ErrReadLimit.
func (*announcedError) Unwrap() error { return ErrReadLimit }

// followed is a link whose frames are looked at.
type followed struct {
	*link
	in *lengths
}

// Read is that of lengths.
func (f *followed) Read(p []byte) (int, error) { return f.in.Read(p) }

var _ net.Conn = (*followed)(nil)

// upgrades looks at the frames of what becomes a WebSocket.
type upgrades struct{ http.RoundTripper }

// RoundTrip puts lengths over the stream of a connection that was upgraded.
func (u *upgrades) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := u.RoundTripper.RoundTrip(r)
	if err != nil || answer.StatusCode != http.StatusSwitchingProtocols {
		return answer, err
	}
	if stream, ok := answer.Body.(io.ReadWriteCloser); ok {
		answer.Body = &upgraded{stream, &lengths{src: stream}}
	}
	return answer, nil
}

// upgraded is such a stream.
type upgraded struct {
	io.ReadWriteCloser
	in *lengths
}

// Read is that of lengths.
func (u *upgraded) Read(p []byte) (int, error) { return u.in.Read(p) }
