package server

import (
	"bytes"
	"errors"
	"io"
	"net"
	"syscall"
)

const (
	readSize = 256 << 10
	// outMax is how many bytes of answers are gathered before they are written
	// although more requests are at hand.
	outMax = 256 << 10
)

// answerer appends the answer to the first request in in to out. It returns how
// many bytes the request has, 0 when it is not whole yet.
type answerer func(in, out []byte) (taken int, _ []byte, err error)

// burst serves one connection: a write for all requests that one read brought.
func burst(c io.ReadWriteCloser, answer answerer) error {
	defer c.Close()
	in, have := make([]byte, readSize), 0
	var out []byte
	for {
		n, err := c.Read(in[have:])
		have += n
		rest := in[:have]
		for {
			taken, grown, problem := answer(rest, out)
			if problem != nil {
				return problem
			}
			out = grown
			if taken > 0 {
				rest = rest[taken:]
			}
			if len(out) > 0 && (taken == 0 || len(out) >= outMax) {
				if _, err := c.Write(out); err != nil {
					return gone(err)
				}
				out = out[:0]
			}
			if taken == 0 {
				break
			}
		}
		have = copy(in, rest)
		if have == len(in) {
			in = append(in, make([]byte, len(in))...)
		}
		if err != nil {
			return gone(err)
		}
	}
}

// gone is nil for an error that only says that the client left.
func gone(err error) error {
	for _, left := range []error{io.EOF, io.ErrUnexpectedEOF, io.ErrClosedPipe, net.ErrClosed, syscall.ECONNRESET, syscall.EPIPE} {
		if errors.Is(err, left) {
			return nil
		}
	}
	return err
}

// line returns the first line of in and what it takes with its ending; nil when
// there is no whole one.
func line(in []byte) (text []byte, taken int) {
	end := bytes.IndexByte(in, '\n')
	if end < 0 {
		return nil, 0
	}
	return bytes.TrimSuffix(in[:end], []byte("\r")), end + 1
}
