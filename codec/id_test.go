package codec

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/internal/invariants"
)

func mustID(t *testing.T, raw string) ID {
	t.Helper()
	id, err := ParseID([]byte(raw), JSONRPC)
	require.NoError(t, err, raw)
	return id
}

// A profile that is none is the caller's mistake, and told as that wherever one is given.
func TestUnknownProfile(t *testing.T) {
	const none = LSP + 1
	require.False(t, none.Known())
	frame := []byte(`{"jsonrpc":"2.0","id":1,"result":{}}`)
	_, parsed := Parse(frame, ScanOptions{Profile: none})
	_, id := ParseID([]byte(`1`), none)
	r := NewReader(strings.NewReader(string(frame)+"\n"+string(frame)+"\n"), ReaderOptions{Scan: ScanOptions{Profile: 77}})
	var m Message
	first, second := r.ReadMessage(&m), r.ReadMessage(&m)
	for _, err := range []error{parsed, id, first, second} {
		require.ErrorIs(t, err, ErrUnknownProfile)
		require.False(t, Recoverable(err))
	}
	require.EqualError(t, first, "codec: unknown profile: Profile(77)")
	_, ok := PeekID(frame, none)
	require.False(t, ok)
	for _, p := range []Profile{MCP, JSONRPC, LSP} {
		require.True(t, p.Known())
		_, err := Parse(frame, ScanOptions{Profile: p})
		require.NoError(t, err)
	}
}

func TestParseID(t *testing.T) {
	for _, c := range []struct {
		raw  string
		want ID
		kind IDKind
		text string
	}{
		{``, ID{}, IDAbsent, ""},
		{`null`, NullID(), IDNull, "null"},
		{`0`, IntID(0), IDInt, "0"},
		{`-7`, IntID(-7), IDInt, "-7"},
		{`9223372036854775807`, IntID(1<<63 - 1), IDInt, "9223372036854775807"},
		{`-9223372036854775808`, IntID(-1 << 63), IDInt, "-9223372036854775808"},
		{`""`, StringID(""), IDString, ""},
		{`"1"`, StringID("1"), IDString, "1"},
		{`"null"`, StringID("null"), IDString, "null"},
		{`"#"`, StringID("#"), IDString, "#"},
		{`"\u0061\"\\\/\b\f\n\r\té😀"`, StringID("a\"\\/\b\f\n\r\té😀"), IDString, "a\"\\/\b\f\n\r\té😀"},
		{`"\ud83d\ude00"`, StringID("😀"), IDString, "😀"},
	} {
		t.Run(c.raw, func(t *testing.T) {
			id, err := ParseID([]byte(c.raw), MCP)
			require.NoError(t, err)
			require.True(t, c.want == id, "%v", id)
			require.Equal(t, c.kind, id.Kind())
			require.Equal(t, c.text, id.Text())
			require.Equal(t, c.kind == IDAbsent, id.IsAbsent())
			n, ok := id.Int()
			require.Equal(t, c.kind == IDInt, ok)
			require.True(t, ok || n == 0)
		})
	}
}

func TestParseIDRefuses(t *testing.T) {
	for _, raw := range []string{`x`, ` 1`, `1 `, `1 2`, `"a`, `01`, `+1`, `1.`, `true`, `{}`, `[]`, "\"\xff\"", `1.5`, `1e2`, strings.Repeat("1", 65)} {
		id, err := ParseID([]byte(raw), MCP)
		require.ErrorIs(t, err, ErrInvalidID, raw)
		require.True(t, id.IsAbsent())
	}
}

func TestParseIDCopies(t *testing.T) {
	for _, raw := range []string{`"abc"`, `"a\nc"`, `1234567890123456789012`} {
		b := []byte(raw)
		id, err := ParseID(b, MCP)
		require.NoError(t, err)
		clear(b)
		require.True(t, id == mustID(t, raw))
	}
}

// Ids are the same exactly when type and value are.
func TestIDEquality(t *testing.T) {
	differ := []string{
		``, `null`, `0`, `-0`, `1`, `-1`, `"1"`, `"01"`, `1.0`, `1e0`, `1E0`, `""`, `"null"`, `"a"`, `"A"`,
		`9223372036854775807`, `9223372036854775808`, `18446744073709551615`, `1e20`, `9007199254740992`, `9007199254740993`,
		`"\ud800"`, `"\ud801"`, `"\udc00"`, `"\ud800\ud800"`, `"\ufffd"`, `"\u0000"`, `"\u0000\u0000"`, `"#"`, `"\""`,
	}
	hashes := map[uint64]string{}
	for i, a := range differ {
		for j, b := range differ {
			x, y := mustID(t, a), mustID(t, b)
			require.Equal(t, i == j, x == y, "%s %s", a, b)
			require.Equal(t, i == j, x.Compare(y) == 0, "%s %s", a, b)
			require.Equal(t, x.Compare(y), -y.Compare(x), "%s %s", a, b)
		}
		h := mustID(t, a).Hash(1)
		require.NotContains(t, hashes, h)
		hashes[h] = a
	}
	for _, same := range [][2]string{
		{`"a"`, `"\u0061"`}, {`"/"`, `"\/"`}, {`"😀"`, `"\uD83D\uDE00"`}, {`"\n"`, `"\u000A"`}, {`"é"`, `"\u00e9"`},
	} {
		x, y := mustID(t, same[0]), mustID(t, same[1])
		require.True(t, x == y, same[0])
		require.Equal(t, x.Hash(7), y.Hash(7))
	}
}

func TestIDOrder(t *testing.T) {
	ids := []ID{StringID("b"), IntID(10), IntID(-1), StringID("a"), NullID(), {}, IntID(9)}
	slices.SortFunc(ids, ID.Compare)
	require.Equal(t, []ID{{}, NullID(), IntID(-1), IntID(9), IntID(10), StringID("a"), StringID("b")}, ids)
}

func TestIDAppend(t *testing.T) {
	for raw, want := range map[string]string{
		`12`: `12`, `null`: `null`, `1e2`: `1e2`, `"a\/b"`: `"a/b"`, `"\u0001\n\r\t\"\\"`: `"\u0001\n\r\t\"\\"`,
		`"\ud800x\udfff"`: `"\ud800x\udfff"`, `"é中😀"`: `"é中😀"`, ``: ``,
	} {
		id := mustID(t, raw)
		require.Equal(t, "x"+want, string(id.Append([]byte("x"))))
		if want != "" {
			require.True(t, id == mustID(t, want))
			require.Equal(t, want, id.String())
		}
	}
	require.Equal(t, "absent", ID{}.String())
	// A string made here that is no UTF-8 still gives a JSON text.
	require.True(t, isJSON(StringID("a\xffb\xed\xa0").Append(nil)))
}

func TestIDHashSpreads(t *testing.T) {
	buckets := make([]int, 64)
	for i := range 64_000 {
		buckets[IntID(int64(i)).Hash(42)&63]++
		buckets[StringID("call-"+strconv.Itoa(i)).Hash(42)&63]++
	}
	for _, n := range buckets {
		require.InDelta(t, 2000, n, 400)
	}
	require.NotEqual(t, IntID(1).Hash(1), IntID(1).Hash(2))
	require.NotEqual(t, StringID("x").Hash(1), StringID("x").Hash(2))
}

func TestIDAllocations(t *testing.T) {
	if invariants.Race || invariants.Enabled {
		t.Skip("the instrumentation allocates")
	}
	raw, text, buf := []byte(`123456`), []byte(`"abc"`), make([]byte, 0, 64)
	seen := map[ID]int{IntID(1): 1}
	require.Zero(t, testing.AllocsPerRun(100, func() {
		id, _ := ParseID(raw, MCP)
		buf = id.Append(buf[:0])
		seen[IntID(1)] += int(id.Hash(1) & 1)
	}))
	require.LessOrEqual(t, testing.AllocsPerRun(100, func() { _, _ = ParseID(text, MCP) }), 1.0)
}

func FuzzParseID(f *testing.F) {
	for _, raw := range []string{`1`, `"a"`, `"\ud800\u0041"`, `-0`, `1e5`, `null`, `true`, `"é"`, strings.Repeat("9", 70)} {
		f.Add([]byte(raw))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		id, err := ParseID(raw, JSONRPC)
		if err != nil || len(raw) == 0 {
			require.True(t, id.IsAbsent())
			return
		}
		require.True(t, isJSON(raw))
		text := id.Append(nil)
		require.True(t, isJSON(text), "%q", text)
		again, err := ParseID(text, JSONRPC)
		require.NoError(t, err)
		require.True(t, id == again)
		if decoded := id.Text(); id.Kind() == IDString && utf8.ValidString(decoded) {
			var want string
			require.NoError(t, json.Unmarshal(raw, &want))
			require.Equal(t, want, decoded)
		}
	})
}
