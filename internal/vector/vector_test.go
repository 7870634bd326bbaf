package vector

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// texts calls f with random texts of every length up to 4 blocks and a bit, each
// beginning at every place within a block, with other bytes before and behind it.
func texts(t *testing.T, f func(b []byte)) {
	const seed = 1
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 2))
	alphabets := []string{
		"abcdefgh ", `ab"\n `, "\\\"", `{}[],: "\`, "09-.e+E,", "\\\"/bfnrtuqx ", "aé中😀\"\\", "\x00\x1f\x20\x7f\x80\xff\n\r\t ",
		"{\"a\":[1,-2.5,true,null,\"x\\n\"]}\n", "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\"", strings.Repeat("y", 200) + "\\n",
	}
	var rooms [][]byte
	for range 5 {
		for _, alphabet := range alphabets {
			room := make([]byte, 5*Block+20)
			for i := range room {
				room[i] = alphabet[r.IntN(len(alphabet))]
			}
			rooms = append(rooms, room)
		}
	}
	for n := range 4*Block + 20 {
		for offset := range Block {
			room := rooms[r.IntN(len(rooms))]
			f(room[offset : offset+n : offset+n])
		}
	}
}

func TestTwinsOfText(t *testing.T) {
	if !Available() {
		t.Log("no assembly here: the twin is checked against itself")
	}
	texts(t, func(b []byte) {
		wantAt, wantEscapes := 0, false
		if len(b) >= Block {
			wantAt, wantEscapes = textPortable(b)
			wantAt = boundary(b, wantAt)
		}
		at, escapes := Text(b)
		if at != wantAt || escapes != wantEscapes {
			t.Fatalf("%d, %t instead of %d, %t: %q", at, escapes, wantAt, wantEscapes, b)
		}
		if !utf8.Valid(b[:at]) {
			t.Fatalf("%d: %q", at, b)
		}
	})
}

func TestTextStopsAtEveryByteThatNeedsIt(t *testing.T) {
	for c := range 256 {
		for at := range 2 * Block {
			for _, before := range []string{"x", `\n`} {
				b := []byte(strings.Repeat(before, 4*Block)[:3*Block])
				if at += at & (len(before) - 1); at >= 2*Block {
					break
				}
				b[at] = byte(c)
				want := 3 * Block
				switch {
				case c < ' ' || c == '"':
					want = at
				case c >= 0xC0 && at%Block == Block-1: // what follows is in the next block
					want = at
				case c >= 0x80:
					want = at &^ (Block - 1)
				case c == '\\' && before == "x": // it escapes an x
					want = at
				case c == '\\':
					b[at+1], b[at+2] = 'n', 'n'
				}
				if got, _ := Text(b); got != want {
					t.Fatalf("%d instead of %d: %q", got, want, b)
				}
			}
		}
	}
}

// Every two bytes, and every three and four that begin a long character or nearly, at
// every place of a block.
func TestTextTellsUTF8(t *testing.T) {
	var characters [][]byte
	for a := 0x80; a < 0x100; a++ {
		for b := range 0x100 {
			characters = append(characters, []byte{byte(a), byte(b)})
		}
	}
	edges := []byte{'x', 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC2, 0xE0, 0xED, 0xF0, 0xF4, 0xFF}
	for _, a := range []byte{0xDF, 0xE0, 0xE1, 0xEC, 0xED, 0xEE, 0xEF, 0xF0, 0xF1, 0xF3, 0xF4, 0xF5, 0xF8, 0xFF} {
		for _, b := range edges {
			for _, c := range edges {
				for _, d := range edges {
					characters = append(characters, []byte{a, b, c, d})
				}
			}
		}
	}
	text := []byte(strings.Repeat("x", 4*Block))
	for i, c := range characters {
		if bytes.ContainsAny(c, "\"\\") || slices.ContainsFunc(c, func(b byte) bool { return b < ' ' }) {
			continue
		}
		for _, at := range []int{i % Block, Block - 1, Block - 2, Block - 3, Block - 4} {
			at += Block
			copy(text[at:], c)
			got, _ := Text(text)
			if want := utf8.Valid(text); want != (got == len(text)) || !utf8.Valid(text[:got]) || got < at&^(Block-1)-3 {
				t.Fatalf("%d of %d: %x at %d", got, len(text), c, at)
			}
			copy(text[at:], "xxxx")
		}
	}
}

func TestTwinsOfClassify(t *testing.T) {
	texts(t, func(b []byte) {
		blocks := len(b) / Block
		for _, begin := range []State{{}, {inside: ^uint64(0)}, {inside: ^uint64(0), escaped: 1}} {
			got, want := make([]Masks, blocks), make([]Masks, blocks)
			s := begin
			Classify(b, &s, got)
			twin := begin
			for i := range want {
				classifyPortable((*[Block]byte)(b[i*Block:]), &twin, &want[i])
			}
			for i := range want {
				got[i][Curly] &= got[i][Opens] | got[i][Closes] // anything elsewhere
				want[i][Curly] &= want[i][Opens] | want[i][Closes]
			}
			if !slices.Equal(want, got) || twin != s {
				require.Equal(t, want, got, "%q", b)
				require.Equal(t, twin, s, "%q", b)
			}
		}
	})
}

func TestTwinsOfCross(t *testing.T) {
	texts(t, func(b []byte) {
		for _, deepest := range []int{3, 1000} {
			end, newline, ok := Cross(b, deepest)
			wantEnd, wantNewline, wantOK := crossSlowly(b, deepest)
			if !wantOK {
				if ok {
					t.Fatalf("it ends at %d: %q", end, b)
				}
				continue
			}
			// It may look further than to the end, in the same block, and not know then.
			if ok && (end != wantEnd || newline != wantNewline) {
				t.Fatalf("%d, %t instead of %d, %t: %q", end, newline, wantEnd, wantNewline, b)
			}
		}
	})
}

// crossSlowly is Cross byte by byte, exact in what it refuses.
func crossSlowly(b []byte, deepest int) (end int, newline, ok bool) {
	depth, inside := 1, false
	for i := 0; i < len(b); i++ {
		switch c := b[i]; {
		case c == '\\':
			if i+1 < len(b) && (b[i+1] == '\\' || b[i+1] == '"') {
				i++
			}
		case c == '"':
			inside = !inside
		case c == '\n' || c == '\r':
			if inside {
				return 0, false, false
			}
			newline = true
		case inside:
		case c == '{' || c == '[':
			if depth++; depth > deepest {
				return 0, false, false
			}
		case c == '}' || c == ']':
			if depth--; depth == 0 {
				return i + 1, newline, true
			}
		}
	}
	return 0, false, false
}

func TestCrossFindsTheEnd(t *testing.T) {
	for n := range 4 * Block {
		for offset := range Block {
			inner := strings.Repeat(`{"a]":[1,"}"]},`, 20)[:n]
			b := []byte(strings.Repeat(" ", offset) + strings.Repeat("x", n) + "]" + inner)
			end, newline, ok := Cross(b[offset:], 100)
			require.True(t, ok)
			require.False(t, newline)
			require.Equal(t, n+1, end)
		}
	}
	_, newline, ok := Cross([]byte("\n]\n"), 1)
	require.True(t, ok && newline)
	_, newline, ok = Cross([]byte("]\n"), 1)
	require.True(t, ok)
	require.False(t, newline, "behind the end")
	_, _, ok = Cross([]byte("\"\n\"]"), 1)
	require.False(t, ok)
	_, _, ok = Cross(nil, 1)
	require.False(t, ok)
	large := make([]byte, 3*most+5) // several calls
	for i := range large {
		large[i] = "[]"[i&1]
	}
	large[len(large)-1] = ']'
	_, _, ok = Cross(large, 1)
	require.False(t, ok, "deeper")
	end, _, ok := Cross(large, 1000)
	require.True(t, ok)
	require.Len(t, large, end)
}

func TestTextIsLong(t *testing.T) {
	for _, unit := range []string{`x\n`, "中é", "😀x"} {
		b := []byte(strings.Repeat(unit, most) + `"`)
		at, escapes := Text(b)
		require.GreaterOrEqual(t, at, len(b)-Block)
		require.Equal(t, unit[0] == 'x', escapes)
		for _, stop := range []int{most - 1, most, most + 1, 2*most - 5, 2*most + 1} {
			broken := bytes.Clone(b)
			for !utf8.Valid(broken[:stop]) || broken[stop-1] == '\\' {
				stop++
			}
			broken[stop] = '"'
			at, _ = Text(broken)
			if unit[0] == 'x' {
				require.Equal(t, stop, at)
			}
			require.LessOrEqual(t, at, stop)
			require.GreaterOrEqual(t, at, stop-Block-3)
			require.True(t, utf8.Valid(broken[:at]))
		}
	}
}

func TestValidUTF8(t *testing.T) {
	texts(t, func(b []byte) {
		if utf8.Valid(b) != ValidUTF8(b) {
			t.Fatalf("%q", b)
		}
	})
	for offset := range 5 {
		b := []byte(strings.Repeat("a", offset) + strings.Repeat("中😀é", most/4))
		require.True(t, ValidUTF8(b))
		for _, at := range []int{offset, most - 1, most, most + 1, len(b) - 1} {
			was := b[at]
			b[at] = 0xff
			require.False(t, ValidUTF8(b))
			b[at] = was
		}
		require.False(t, ValidUTF8(b[:len(b)-1]))
		for cut := most - 4; cut < most+4; cut++ {
			require.Equal(t, utf8.Valid(b[:cut]), ValidUTF8(b[:cut]))
		}
	}
	require.False(t, ValidUTF8([]byte(strings.Repeat("\x80", 2*most))))
}
