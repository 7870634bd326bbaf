package codec_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/codec"
)

const (
	one = `{"jsonrpc":"2.0","id":1,"result":{}}`
	two = `{"jsonrpc":"2.0","id":2,"result":true}`
	bom = "\xef\xbb\xbf"
)

func quoted(frames ...string) []string {
	out := make([]string, len(frames))
	for i, f := range frames {
		out[i] = fmt.Sprintf("%q", f)
	}
	return out
}

// A framing case is a stream and what a reader with a maximum of 64 bytes tells.
type framingCase struct {
	name   string
	framer codec.Framer
	stream string
	want   []string
}

func headed(n any, body string) string { return fmt.Sprintf("Content-Length: %v\r\n\r\n%s", n, body) }

func framingCases() []framingCase {
	line, header, length := codec.LineFramer{}, codec.HeaderFramer{MaxHeader: 80}, codec.LengthFramer{}
	long := `{"id":7,` + strings.Repeat(" ", 60) + `"result":1}`
	tooLong := fmt.Sprintf("codec: frame too large prefix %q fatal false", long[:64])
	end, cut := "EOF", "unexpected EOF"
	return []framingCase{
		{"empty stream", line, "", []string{end}},
		{"lines", line, one + "\n" + two + "\n", append(quoted(one, two), end)},
		{"line ends in CR LF", line, one + "\r\n" + two + "\r\n", append(quoted(one, two), end)},
		{"blank lines", line, "\n\r\n \t\n" + one + "\n\n\n" + two + "\n \n", append(quoted(one, two), end)},
		{"blank end without LF", line, one + "\n \r", append(quoted(one), end)},
		{"mark before lines", line, bom + one + "\n" + bom + two + "\r\n" + bom + "\n", append(quoted(one, two), end)},
		{"whole last line without LF", line, one + "\n" + two, append(quoted(one, two), end)},
		{"whole last line with CR", line, bom + two + "\r", append(quoted(two), end)},
		{"cut last line", line, one + "\n" + two[:20], append(quoted(one), cut)},
		{"stray text at the end", line, one + "\nbye", append(quoted(one), cut)},
		{"long line", line, one + "\n" + long + "\n" + two + "\n", append(append(quoted(one), tooLong), append(quoted(two), end)...)},
		{"long line with mark and CR", line, bom + long + "\r\n" + two + "\n", append([]string{tooLong}, append(quoted(two), end)...)},
		{"two long lines", line, long + "\n" + long + "\n", []string{tooLong, tooLong, end}},
		{"long last line without LF", line, long, []string{tooLong, cut}},
		{"long blank line", line, strings.Repeat(" ", 65) + "\n" + one + "\n",
			append([]string{fmt.Sprintf("codec: frame too large prefix %q fatal false", strings.Repeat(" ", 64))}, append(quoted(one), end)...)},
		{"line of the maximum", line, long[:64] + "\n" + bom + long[:64] + "\r\n", append(quoted(long[:64], long[:64]), end)},
		{"line one above the maximum", line, long[:65] + "\n", []string{tooLong, end}},
		{"text and control bytes pass", line, "hello\n\xff\xfe\n\x00\n", append(quoted("hello", "\xff\xfe", "\x00"), end)},

		{"headers", header, headed(36, one) + headed(38, two), append(quoted(one, two), end)},
		{"header names in any case, LF alone", header, "content-LENGTH:36\n\n" + one, append(quoted(one), end)},
		{"content type", header, "Content-Type: application/vscode-jsonrpc; charset=utf-8\r\n" + headed(36, one), append(quoted(one), end)},
		{"content type behind, blanks", header, "Content-Length: \t38 \r\nContent-Type: x\r\n\r\n" + two, append(quoted(two), end)},
		{"leading zeros", header, headed("00000000000000000000036", one), append(quoted(one), end)},
		{"empty body", header, headed(0, "") + headed(36, one), append(quoted(one), end)},
		{"line ends between messages", header, headed(36, one) + "\r\n\n" + headed(38, two) + "\n", append(quoted(one, two), end)},
		{"mark before header and body", header, bom + headed(36, one) + headed(41, bom+two), append(quoted(one, two), end)},
		{"body of the maximum", header, headed(64, long[:64]), append(quoted(long[:64]), end)},
		{"body above the maximum", header, headed(65, ""), []string{`codec: frame too large (65 bytes announced) prefix "" fatal true`}},
		{"cut header", header, headed(36, one) + "Content-Le", append(quoted(one), cut)},
		{"header without body", header, headed(36, ""), []string{cut}},
		{"cut body", header, headed(36, one[:10]), []string{cut}},
		{"no length", header, "Content-Type: x\r\n\r\n" + one, []string{`codec: bad frame header: no Content-Length prefix "" fatal true`}},
		{"length twice", header, "Content-Length: 36\r\n" + headed(36, one), append(quoted(one), end)},
		{"two lengths", header, "Content-Length: 35\r\n" + headed(36, one), []string{`codec: bad frame header: two values of Content-Length prefix "" fatal true`}},
		{"no colon", header, "hello\r\n\r\n", []string{`codec: bad frame header: a line without a colon prefix "" fatal true`}},
		{"header without end", header, strings.Repeat("A", 81), []string{`codec: bad frame header: no end within the maximum prefix "" fatal true`}},

		{"lengths", length, "\x00\x00\x00\x24" + one + "\x00\x00\x00\x26" + two, append(quoted(one, two), end)},
		{"mark before message", length, "\x00\x00\x00\x27" + bom + one + "\x00\x00\x00\x03" + bom + "\x00\x00\x00\x26" + two, append(quoted(one, two), end)},
		{"length of 0", length, "\x00\x00\x00\x00\x00\x00\x00\x24" + one, append(quoted(one), end)},
		{"length of the maximum", length, "\x00\x00\x00\x40" + long[:64], append(quoted(long[:64]), end)},
		{"length above the maximum", length, "\x00\x00\x00\x41", []string{`codec: frame too large (65 bytes announced) prefix "" fatal true`}},
		{"cut length", length, "\x00\x00\x00\x24" + one + "\x00\x00", append(quoted(one), cut)},
		{"cut message", length, "\x00\x00\x00\x24" + one[:35], []string{cut}},
	}
}

func TestFraming(t *testing.T) {
	for _, c := range framingCases() {
		t.Run(fmt.Sprintf("%T/%s", c.framer, c.name), func(t *testing.T) {
			for i, src := range splits(len(c.stream), 1) {
				src.stream = c.stream
				got := events(src, codec.ReaderOptions{Framer: c.framer, MaxFrame: 64})
				require.Equal(t, c.want, got, "split %d", i)
			}
		})
	}
}

// What Seal writes, Next reads, whatever the size.
func TestSealedFramesAreRead(t *testing.T) {
	for _, f := range []codec.Framer{codec.LineFramer{}, codec.HeaderFramer{}, codec.LengthFramer{}} {
		var stream []byte
		var want []string
		for _, n := range []int{2, 9, 10, 99, 100, 999, 1000, 9999, 10000, 99999, 100000, 1 << 20} {
			body := `"` + strings.Repeat("é", (n-2)/2) + strings.Repeat("x", n%2) + `"`
			want = append(want, body)
			start := len(stream)
			var err error
			stream, err = f.Seal(append(f.Open(stream), body...), start)
			require.NoError(t, err)
		}
		for _, src := range []*pieces{{sizes: []int{1 << 20}}, {sizes: []int{1000, 1}}} {
			src.stream = string(stream)
			require.Equal(t, append(quoted(want...), "EOF"), events(src, codec.ReaderOptions{Framer: f}))
		}
	}
}

func TestSeal(t *testing.T) {
	for _, c := range []struct {
		framer     codec.Framer
		body, want string
	}{
		{codec.LineFramer{}, `{}`, "{}\n"},
		{codec.LineFramer{}, "{\n\"a\":\r\n1}\r", "{ \"a\":  1} \n"},
		{codec.HeaderFramer{}, `{}`, "Content-Length: 2\r\n\r\n{}"},
		{codec.HeaderFramer{}, `"` + strings.Repeat("x", 998) + `"`, "Content-Length: 1000\r\n\r\n\"" + strings.Repeat("x", 998) + `"`},
		{codec.HeaderFramer{}, `"` + strings.Repeat("x", 12343) + `"`, "Content-Length: 12345\r\n\r\n\"" + strings.Repeat("x", 12343) + `"`},
		{codec.LengthFramer{}, `{}`, "\x00\x00\x00\x02{}"},
	} {
		const before = "what stands before"
		dst := c.framer.Open([]byte(before))
		dst, err := c.framer.Seal(append(dst, c.body...), len(before))
		require.NoError(t, err)
		require.Equal(t, before+c.want, string(dst))

		dst, err = c.framer.Seal(c.framer.Open([]byte(before)), len(before))
		require.ErrorIs(t, err, codec.ErrEmptyFrame)
		require.Equal(t, before, string(dst), "%T", c.framer)
	}
}

func TestMaxHeader(t *testing.T) {
	for most, limit := range map[int]int{0: codec.DefaultMaxHeader, 1: 64, 100: 100, -1: 64 << 10, 1 << 30: 64 << 10} {
		f := codec.HeaderFramer{MaxHeader: most}
		fits := "X: " + strings.Repeat("x", limit-len("X: \r\n")-len("Content-Length: 36\r\n\r\n")) + "\r\n" + headed(36, one)
		require.Equal(t, append(quoted(one), "EOF"), events(strings.NewReader(fits), codec.ReaderOptions{Framer: f, ChunkSize: 512}))
		got := events(strings.NewReader("X"+fits), codec.ReaderOptions{Framer: f})
		require.Equal(t, []string{`codec: bad frame header: no end within the maximum prefix "" fatal true`}, got)
	}
}

func TestRecoverable(t *testing.T) {
	for err, want := range map[error]bool{
		&codec.SyntaxError{}:                                    true,
		codec.ErrBatch:                                          true,
		codec.ErrConcurrentRead:                                 true,
		fmt.Errorf("reading: %w", codec.ErrBatch):               true,
		&codec.FrameError{Err: codec.ErrFrameTooLarge}:          true,
		&codec.FrameError{Err: codec.ErrBadHeader, Fatal: true}: false,
		fmt.Errorf("reading: %w", &codec.FrameError{Err: codec.ErrBadHeader, Fatal: true}): false,
		fmt.Errorf("anything"): false,
	} {
		require.Equal(t, want, codec.Recoverable(err), "%v", err)
	}
	require.False(t, codec.Recoverable(nil))
}

func TestFrameErrorText(t *testing.T) {
	err := &codec.FrameError{Err: codec.ErrFrameTooLarge, Size: math.MaxUint64, Fatal: true}
	require.EqualError(t, err, "codec: frame too large (18446744073709551615 bytes announced)")
	require.ErrorIs(t, err, codec.ErrFrameTooLarge)
}
