package link_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/adapters/jsonrpc2/internal/link"
	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/conn"
)

// frames reads all that r has: frames, and in the end why there is no more.
func frames(r io.Reader, f codec.Framer, maxFrame int) (out []string) {
	in := codec.NewReader(r, codec.ReaderOptions{Framer: f, MaxFrame: maxFrame})
	for {
		frame, err := in.Next()
		if err != nil {
			return append(out, err.Error())
		}
		out = append(out, string(frame))
	}
}

const (
	one = `{"jsonrpc":"2.0","id":1,"result":{"a":["}",{}]}}`
	two = `{"jsonrpc":"2.0","id":2,"result":"\"{[\\"}`
)

func TestValues(t *testing.T) {
	pretty := "{\n  \"id\": 1,\n  \"result\": [\n    1,\n    2\n  ]\n}"
	for name, c := range map[string]struct {
		in   string
		want []string
	}{
		"nothing":          {"", []string{"EOF"}},
		"lines":            {one + "\n" + two + "\r\n", []string{one, two, "EOF"}},
		"nothing between":  {one + two + one, []string{one, two, one, "EOF"}},
		"several lines":    {pretty + "\n" + two + pretty, []string{pretty, two, pretty, "EOF"}},
		"arrays":           {"[" + one + "," + two + "]\n[]", []string{"[" + one + "," + two + "]", "[]", "EOF"}},
		"blanks and marks": {" \n\t\xef\xbb\xbf" + one + "\n\n \xef\xbb\xbf" + two + " \n", []string{one, two, "EOF"}},
		"a banner":         {"Listening on {port}\n" + one, []string{"Listening on {port}", one, "EOF"}},
		"scalars":          {"null\n" + one + "\n7\n\"x\"\n", []string{"null", one, "7", `"x"`, "EOF"}},
		"a wrong bracket":  {`{"id":1,"result":]}` + "\n" + two, []string{`{"id":1,"result":]}`, two, "EOF"}},
		"no comma":         {`{"a":"b""c"}` + "\n" + two, []string{`{"a":"b""c"}`, two, "EOF"}},
		"cut in a string":  {`{"id":1,"resu` + "\n" + two, []string{`{"id":1,"resu`, two, "EOF"}},
		"cut at a value":   {`{"id":1,"result":` + "\n" + one + "\n" + two + "\n", []string{`{"id":1,"result":`, one, two, "EOF"}},
		"an open value":    {one + `{"id":`, []string{one, "unexpected EOF"}},
		"an open line":     {one + `]{"id":`, []string{one, "unexpected EOF"}},
		"at the maximum":   {`{"a":"` + strings.Repeat("x", 92) + `"}` + two, []string{`{"a":"` + strings.Repeat("x", 92) + `"}`, two, "EOF"}},
		"above it":         {`{"a":"` + strings.Repeat("x", 93) + `"}` + two, []string{"codec: frame too large"}},
		"open and above":   {`{"a":"` + strings.Repeat("x", 200), []string{"codec: frame too large"}},
		"a line above it":  {strings.Repeat("x", 101) + "\n" + two, []string{"codec: frame too large"}},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, c.want, frames(strings.NewReader(c.in), new(link.Values), 100))
			require.Equal(t, c.want, frames(iotest.OneByteReader(strings.NewReader(c.in)), new(link.Values), 100), "byte by byte")
			require.Equal(t, c.want, frames(iotest.HalfReader(strings.NewReader(c.in)), new(link.Values), 100), "in halves")
		})
	}
}

func TestVarint(t *testing.T) {
	for in, want := range map[string][]string{
		"":                                 {"EOF"},
		"\x02{}\x00\x02[]":                 {"{}", "[]", "EOF"},
		"\x82\x80\x00{}":                   {"{}", "EOF"},
		"\x03{}":                           {"unexpected EOF"},
		"\x80":                             {"unexpected EOF"},
		"\x65":                             {"codec: frame too large (101 bytes announced)"},
		strings.Repeat("\xff", 9) + "\x01": {"codec: frame too large (18446744073709551615 bytes announced)"},
		strings.Repeat("\xff", 11):         {"codec: bad frame header: a length beyond 64 bits (18446744073709551615 bytes announced)"},
	} {
		require.Equal(t, want, frames(strings.NewReader(in), link.Varint{}, 100), "%q", in)
		require.Equal(t, want, frames(iotest.OneByteReader(strings.NewReader(in)), link.Varint{}, 100), "%q", in)
	}
}

// What Seal writes, Cut reads, whatever the size, and nothing before it is touched.
func TestSealedFramesAreRead(t *testing.T) {
	for _, f := range []codec.Framer{new(link.Values), link.Varint{}, link.Typed{}, link.Typed{Type: "application/json"}} {
		var stream []byte
		var want []string
		for _, n := range []int{2, 127, 128, 999, 1000, 16383, 16384, 1 << 21} {
			body := `["` + strings.Repeat("x", n) + `"]`
			want = append(want, body)
			start := len(stream)
			var err error
			stream, err = f.Seal(append(f.Open(stream), body...), start)
			require.NoError(t, err)
		}
		require.Equal(t, append(want, "EOF"), frames(strings.NewReader(string(stream)), f, 0), "%T", f)
		before := []byte("before")
		dst, err := f.Seal(f.Open(before), len(before))
		require.ErrorIs(t, err, codec.ErrEmptyFrame)
		require.Equal(t, "before", string(dst))
	}
	dst, err := link.Typed{Type: "a/b"}.Seal(append(link.Typed{Type: "a/b"}.Open(nil), "{}"...), 0)
	require.NoError(t, err)
	require.Equal(t, "Content-Type: a/b\r\nContent-Length: 2\r\n\r\n{}", string(dst))
}

// messages keeps what was sent and gives what it has.
type messages struct {
	sent   []string
	in     []string
	closed int
	err    error
}

func (m *messages) Send(b []byte) error {
	m.sent = append(m.sent, string(b))
	_ = append(b, "overwritten"...)
	return m.err
}

func (m *messages) Recv() ([]byte, error) {
	if len(m.in) == 0 {
		return nil, io.EOF
	}
	next := m.in[0]
	m.in = m.in[1:]
	return []byte(next), nil
}

func (m *messages) Close() error { m.closed++; return m.err }

func TestCarry(t *testing.T) {
	m := &messages{in: []string{"{\n\"a\":\r\n1}", "", " ", "null", "[]"}}
	s := link.Carry(m)
	text, err := io.ReadAll(iotest.OneByteReader(s))
	require.NoError(t, err)
	require.Equal(t, "{ \"a\":  1}\nnull\n[]\n", string(text))

	for _, part := range []string{"{}\n[", "1,", "2]\n", "3\n4\n"} {
		n, err := io.WriteString(s, part)
		require.NoError(t, err)
		require.Equal(t, len(part), n)
	}
	require.Equal(t, []string{"{}", "[1,2]", "3", "4"}, m.sent)

	m.err = errors.New("broken")
	n, err := io.WriteString(s, "5\n6\n")
	require.ErrorIs(t, err, m.err)
	require.Zero(t, n)
	require.ErrorIs(t, s.Close(), m.err)
	require.ErrorIs(t, s.Close(), m.err)
	require.Equal(t, 1, m.closed)
}

func TestJoin(t *testing.T) {
	r, w := io.Pipe()
	both := struct{ *messagesPipe }{&messagesPipe{r, w}}
	require.Equal(t, any(both), any(link.Join(both, both)))
	s := link.Join(r, w)
	require.NoError(t, s.Close())
	_, err := s.Read(make([]byte, 1))
	require.Error(t, err)
	require.NotPanics(t, func() { link.Join(uncomparable{}, uncomparable{}) })
}

// socket takes everything at once.
type socket struct {
	io.ReadWriteCloser
	taken int
}

func (s *socket) TryWrite(p []byte) (int, error) { s.taken += len(p); return len(p), nil }

// A stream takes what a few calls write at once, and leaves that of many to the
// writer, until they are few again.
func TestCrowd(t *testing.T) {
	var c link.Crowd
	s := &socket{}
	now := conn.TryWriterOf(c.Stream(s))
	write := func() int {
		n, err := now.TryWrite([]byte("xy"))
		require.NoError(t, err)
		return n
	}
	for range 4 {
		c.Begin()
		require.Equal(t, 2, write())
	}
	c.Begin()
	require.Zero(t, write())
	c.End()
	require.Equal(t, 2, write())
	require.Equal(t, 10, s.taken)

	plain, other := net.Pipe()
	defer plain.Close()
	defer other.Close()
	require.Equal(t, plain, c.Stream(plain), "nothing writes to it at once")
}

type messagesPipe struct {
	*io.PipeReader
	*io.PipeWriter
}

func (p *messagesPipe) Close() error                   { return p.PipeWriter.Close() }
func (p *messagesPipe) CloseWithError(err error) error { return fmt.Errorf("closed: %w", err) }

type uncomparable struct{ _ []int }

func (uncomparable) Read([]byte) (int, error)    { return 0, io.EOF }
func (uncomparable) Write(p []byte) (int, error) { return len(p), nil }
func (uncomparable) Close() error                { return nil }

// Whatever comes, however it is split, the frames are the same and no byte is lost.
func FuzzValues(f *testing.F) {
	for _, s := range []string{one + two, one + "\n]" + two, `{"a` + "\n" + `{"b":{}`, "[{\"a\":\n[]}]x\n{}"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) {
		whole := frames(strings.NewReader(in), new(link.Values), 64)
		require.Equal(t, whole, frames(iotest.OneByteReader(strings.NewReader(in)), new(link.Values), 64))
	})
}
