package client

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strconv"
	"time"
)

// events reads a stream of server-sent events, by the HTML standard, section 9.2.
type events struct {
	r    *bufio.Reader
	max  int
	data []byte
	line []byte
	// last is the id of the last event, "" before one came.
	last string
	// fresh counts the events since reset.
	fresh int
	// retry is how long the server wants a client to stay away; negative when it
	// did not say.
	retry time.Duration
	begun bool // the first line was read
	cr    bool // the last line ended with CR
	// barren counts the streams in a row that brought no event.
	barren int
}

var errEventTooLarge = errors.New("client: event too large")

// What a server may ask for has bounds: without the lower one it could have us come
// back as fast as we can.
const (
	minRetry = 20 * time.Millisecond
	maxRetry = 5 * time.Minute
)

func newEvents(r io.Reader, max int) *events {
	return &events{r: bufio.NewReaderSize(r, 4<<10), max: max, retry: -1}
}

// reset goes on with another stream.
func (e *events) reset(r io.Reader) {
	e.r.Reset(r)
	e.fresh, e.begun, e.cr = 0, false, false
}

// next gives the data of the next event, borrowed until the call after. Data may be
// empty. At the end of the stream it is io.EOF, and what is left of an event is
// dropped.
func (e *events) next() ([]byte, error) {
	e.data = e.data[:0]
	some, id, hasID := false, "", false
	for {
		line, err := e.readLine()
		if err != nil {
			return nil, err
		}
		if len(line) == 0 {
			if hasID {
				e.last = id
			}
			if !some {
				if hasID {
					e.fresh++
				}
				continue
			}
			e.fresh++
			return e.data[:max(len(e.data)-1, 0)], nil
		}
		field, value, _ := bytes.Cut(line, []byte{':'})
		value = bytes.TrimPrefix(value, []byte{' '})
		switch string(field) {
		case "data":
			if len(e.data)+len(value) >= e.max {
				return nil, errEventTooLarge
			}
			e.data = append(append(e.data, value...), '\n')
			some = true
		case "id":
			if bytes.IndexByte(value, 0) < 0 {
				id, hasID = string(value), true
			}
		case "retry":
			if n, err := strconv.ParseInt(string(value), 10, 64); err == nil && n >= 0 {
				n = min(max(n, minRetry.Milliseconds()), maxRetry.Milliseconds())
				e.retry = time.Duration(n) * time.Millisecond
			}
		}
	}
}

// readLine reads up to CR, LF or both, which it leaves out. It never waits for the
// LF behind a CR: that is skipped when it comes.
func (e *events) readLine() ([]byte, error) {
	e.line = e.line[:0]
	for {
		if _, err := e.r.Peek(1); err != nil {
			return nil, err
		}
		b, _ := e.r.Peek(e.r.Buffered())
		if e.cr {
			e.cr = false
			if b[0] == '\n' {
				_, _ = e.r.Discard(1)
				continue
			}
		}
		end := bytes.IndexByte(b, '\n')
		if cr := bytes.IndexByte(b[:max(end, 0)], '\r'); end < 0 {
			if cr = bytes.IndexByte(b, '\r'); cr >= 0 {
				end, e.cr = cr, true
			}
		} else if cr >= 0 {
			end, e.cr = cr, true
		}
		if end < 0 {
			if len(e.line)+len(b) > e.max {
				return nil, errEventTooLarge
			}
			e.line = append(e.line, b...)
			_, _ = e.r.Discard(len(b))
			continue
		}
		if len(e.line)+end > e.max {
			return nil, errEventTooLarge
		}
		line := append(e.line, b[:end]...)
		e.line = line
		_, _ = e.r.Discard(end + 1)
		if !e.begun {
			e.begun = true
			line = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))
		}
		return line, nil
	}
}

// stale counts how often in a row the stream was taken up and brought nothing.
func (e *events) stale() int {
	if e.fresh > 0 {
		e.barren = 0
		return 0
	}
	e.barren++
	return e.barren
}
