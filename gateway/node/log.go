package node

import (
	"bytes"
	"io"
	"strconv"
	"sync"
)

func itoa(i int) string { return strconv.Itoa(i) }

// lineMost is the longest line of a child's standard error that is logged as one.
const lineMost = 4 << 10

// childLog logs what the children of an upstream write to their standard error, a line
// at a time.
func (n *Node) childLog(upstream string) io.Writer {
	return &lines{line: func(text []byte) { n.log.Info("child", "upstream", upstream, "stderr", string(text)) }}
}

type lines struct {
	line func([]byte)

	mu   sync.Mutex // guards rest: several children may write
	rest []byte
}

// Write logs the whole lines, and keeps the beginning of the next.
func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rest = append(l.rest, p...)
	for {
		line, rest, found := bytes.Cut(l.rest, []byte{'\n'})
		switch {
		case found:
		case len(l.rest) > lineMost:
			line, rest = l.rest[:lineMost], l.rest[lineMost:]
		default:
			return len(p), nil
		}
		if line = bytes.TrimRight(line, "\r"); len(line) > 0 {
			l.line(line[:min(len(line), lineMost)])
		}
		l.rest = append(l.rest[:0], rest...)
	}
}
