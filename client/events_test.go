package client

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestEvents(t *testing.T) {
	for _, c := range []struct {
		name, text string
		data       []string
		last       string
		retry      time.Duration
	}{
		{name: "one", text: "data: a\n\n", data: []string{"a"}},
		{name: "lines of data", text: "data: a\ndata:b\ndata\n\n", data: []string{"a\nb\n"}},
		{name: "CRLF", text: "data: a\r\ndata: b\r\n\r\ndata: c\r\n\r\n", data: []string{"a\nb", "c"}},
		{name: "CR", text: "data: a\r\rdata: b\r\r", data: []string{"a", "b"}},
		{name: "mixed", text: "data: a\n\rdata: b\r\n\n", data: []string{"a", "b"}},
		{name: "comments and unknown fields", text: ": hello\nevent: message\nfoo: x\ndata: a\n\n:\n\n", data: []string{"a"}},
		{name: "byte order mark", text: "\ufeffdata: a\n\n", data: []string{"a"}},
		{name: "one space is taken", text: "data:  a\n\n", data: []string{" a"}},
		{name: "id and retry", text: "id: 7\nretry: 250\ndata:\n\n", data: []string{""}, last: "7", retry: 250 * time.Millisecond},
		{name: "id alone", text: "id: 7\n\ndata: a\n\n", data: []string{"a"}, last: "7"},
		{name: "id with a null", text: "id: a\x00b\ndata: a\n\n", data: []string{"a"}},
		{name: "retry that is no number", text: "retry: soon\nretry: -1\ndata: a\n\n", data: []string{"a"}},
		{name: "retry of no time", text: "retry: 0\ndata: a\n\n", data: []string{"a"}, retry: minRetry},
		{name: "retry of a century", text: "retry: 99999999999999\ndata: a\n\n", data: []string{"a"}, retry: maxRetry},
		{name: "cut", text: "data: a\n\ndata: b", data: []string{"a"}},
		{name: "cut before the empty line", text: "data: a\n\nid: 9\ndata: b\n", data: []string{"a"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for name, r := range map[string]io.Reader{
				"whole": strings.NewReader(c.text), "bytes": iotest.OneByteReader(strings.NewReader(c.text)),
				"halves": iotest.HalfReader(strings.NewReader(c.text)),
			} {
				e := newEvents(r, 100)
				var got []string
				for {
					data, err := e.next()
					if err != nil {
						require.ErrorIs(t, err, io.EOF, name)
						break
					}
					got = append(got, string(data))
				}
				require.Equal(t, c.data, got, name)
				require.Equal(t, c.last, e.last, name)
				require.Equal(t, c.retry, max(e.retry, 0), name)
			}
		})
	}
}

func TestEventsAreBounded(t *testing.T) {
	for _, text := range []string{"data: " + strings.Repeat("x", 200) + "\n\n", strings.Repeat("data: 0123456789\n", 20) + "\n"} {
		_, err := newEvents(strings.NewReader(text), 100).next()
		require.ErrorIs(t, err, errEventTooLarge)
	}
}

// An event is there with its last byte, even if that is a CR whose LF may follow.
func TestEventsAreNotHeldUp(t *testing.T) {
	r, w := io.Pipe()
	go func() { _, _ = io.WriteString(w, "data: a\r\n\r") }()
	data, err := newEvents(r, 100).next()
	require.NoError(t, err)
	require.Equal(t, "a", string(data))
	require.NoError(t, r.Close())
}

// However a stream is cut into reads, the events are the same.
func FuzzEvents(f *testing.F) {
	f.Add("data: a\n\nid: 1\nretry: 5\ndata: b\r\n\r\ndata: c\r\r")
	f.Add("\ufeff:x\r\n\ndata\n\n")
	f.Fuzz(func(t *testing.T, text string) {
		read := func(r io.Reader) (all []string, last string, err error) {
			e := newEvents(r, 64)
			for {
				data, err := e.next()
				if err != nil {
					return all, e.last, err
				}
				require.LessOrEqual(t, len(data), 64)
				all = append(all, string(data))
			}
		}
		whole, last, err := read(strings.NewReader(text))
		bytewise, last1, err1 := read(iotest.OneByteReader(strings.NewReader(text)))
		require.Equal(t, errors.Is(err, io.EOF), errors.Is(err1, io.EOF))
		if errors.Is(err, io.EOF) {
			require.Equal(t, whole, bytewise)
			require.Equal(t, last, last1)
		}
	})
}
