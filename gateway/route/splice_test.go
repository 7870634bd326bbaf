package route_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/gateway/route"
)

// writer makes frames of random form: odd spacing, members in any order, escapes, look-
// alikes at other levels.
type writer struct {
	r *rand.Rand
	b strings.Builder
}

func (w *writer) space() {
	for range w.r.IntN(3) {
		w.b.WriteByte(" \t\r\n"[w.r.IntN(4)])
	}
}

func (w *writer) spell(s string) string {
	var out strings.Builder
	for _, c := range s {
		if w.r.IntN(6) == 0 {
			fmt.Fprintf(&out, `\u%04x`, c)
		} else {
			out.WriteRune(c)
		}
	}
	return `"` + out.String() + `"`
}

// object writes members, given as key and text, in random order.
func (w *writer) object(members ...[2]string) string {
	w.r.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
	var inner writer
	inner.r = w.r
	inner.space()
	inner.b.WriteByte('{')
	for i, m := range members {
		if i > 0 {
			inner.b.WriteByte(',')
		}
		inner.space()
		inner.b.WriteString(w.spell(m[0]))
		inner.space()
		inner.b.WriteByte(':')
		inner.space()
		inner.b.WriteString(m[1])
		inner.space()
	}
	inner.b.WriteByte('}')
	return inner.b.String()
}

var ids = []string{`0`, `-0`, `1`, `"1"`, `""`, `"\u0031"`, `9007199254740993`, `18446744073709551616`, `"a\/b"`, `-12`}

func (w *writer) id() string { return ids[w.r.IntN(len(ids))] }

func (w *writer) junk() [2]string {
	texts := []string{`1e400`, `{"id":7,"progressToken":8}`, `[{"_meta":{"progressToken":1}}]`, `"\ud83d\ude00\\\""`, `-0.0`, `null`, `{"jsonrpc":"1"}`}
	return [2]string{fmt.Sprintf("x%d", w.r.IntN(1e9)), texts[w.r.IntN(len(texts))]}
}

// Whatever the frame, a rewrite changes the values of its keys and no other byte.
func TestOnlySpansChange(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var rewrite route.Rewrite
	for range 5000 {
		w := &writer{r: r}
		id, token, subscription := w.id(), w.id(), w.id()
		const mark = 4503599627370497
		request := w.object([2]string{"jsonrpc", `"2.0"`}, [2]string{"id", id}, [2]string{"method", `"tools\/call"`}, w.junk(),
			[2]string{"params", w.object(w.junk(), [2]string{"_meta", w.object(w.junk(), [2]string{"progressToken", token})}, [2]string{"name", `"n"`})})
		m := parse(t, request)
		rewrite.Request(m, mark)
		check(t, m, &rewrite, map[string]string{id + " id": "4503599627370497", token + " token": "4503599627370497"}, m.Envelope.RawID, m.Envelope.Token)

		result := w.object([2]string{"jsonrpc", `"2.0"`}, [2]string{"id", `77`},
			[2]string{"result", w.object(w.junk(), [2]string{"_meta", w.object(w.junk(), [2]string{"io.modelcontextprotocol/subscriptionId", `77`})})}, w.junk())
		m = parse(t, result)
		e, err := route.EchoText([]byte(id))
		require.NoError(t, err)
		rewrite.Answer(m, 77, e)
		check(t, m, &rewrite, map[string]string{"77 id": id, "77 subscription": id}, m.Envelope.RawID, m.Envelope.Subscription)

		progress := w.object([2]string{"jsonrpc", `"2.0"`}, [2]string{"method", `"notifications/progress"`},
			[2]string{"params", w.object(w.junk(), [2]string{"progressToken", `77`}, [2]string{"_meta", w.object([2]string{"progressToken", subscription})})})
		m = parse(t, progress)
		rewrite.Progress(m, e)
		check(t, m, &rewrite, map[string]string{"77 progress": id}, m.Envelope.Progress)

		cancel := w.object([2]string{"jsonrpc", `"2.0"`}, [2]string{"method", `"notifications/cancelled"`},
			[2]string{"params", w.object(w.junk(), [2]string{"requestId", id})})
		m = parse(t, cancel)
		rewrite.Cancelled(m, mark)
		check(t, m, &rewrite, map[string]string{id + " request": "4503599627370497"}, m.Envelope.RequestID)
	}
}

// check compares a spliced frame with its original, piece by piece.
func check(t *testing.T, m *codec.Message, r *route.Rewrite, want map[string]string, spans ...codec.Span) {
	t.Helper()
	frame, got := m.Frame(), codec.AppendSplice(nil, m.Frame(), r.Edits...)
	require.True(t, json.Valid(got), "%s", got)
	require.Len(t, r.Edits, len(spans))
	for i := 1; i < len(r.Edits); i++ {
		require.Less(t, r.Edits[i-1].Span.Off, r.Edits[i].Span.Off)
	}
	texts := map[string]bool{}
	for _, text := range want {
		texts[text] = true
	}
	at, from := 0, uint32(0)
	for _, e := range r.Edits {
		require.Contains(t, spans, e.Span)
		require.True(t, texts[string(e.Text)], "%s", e.Text)
		piece := string(frame[from:e.Span.Off]) + string(e.Text)
		require.Equal(t, piece, string(got[at:at+len(piece)]))
		at, from = at+len(piece), e.Span.End
	}
	require.Equal(t, string(frame[from:]), string(got[at:]))
}

// Any frame that is accepted can be rewritten, and what comes out is accepted, with the
// new id, and with everything else as it was.
func FuzzRewrite(f *testing.F) {
	for _, frame := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"n","_meta":{"progressToken":"t"}}}`,
		`{"params":{"_meta":{"progressToken":9}},"id":"\u0031","method":"m","jsonrpc":"2.0"}`,
		" {\n\"jsonrpc\" : \"2.0\" , \"id\":18446744073709551616,\"method\":\"m\" } ",
	} {
		f.Add([]byte(frame), int64(1)<<50)
	}
	f.Fuzz(func(t *testing.T, frame []byte, number int64) {
		m, err := codec.Parse(frame, codec.ScanOptions{})
		if err != nil || m.Kind != codec.KindRequest {
			return
		}
		var r route.Rewrite
		r.Request(&m, number)
		out := codec.AppendSplice(nil, frame, r.Edits...)
		again, err := codec.Parse(out, codec.ScanOptions{})
		require.NoError(t, err)
		id, ok := again.ID().Int()
		require.True(t, ok)
		require.Equal(t, number, id)
		require.Equal(t, string(m.Method()), string(again.Method()))
		require.Equal(t, string(m.Name()), string(again.Name()))
		// Back again: the client's id and token, as they were written.
		var back []codec.Edit
		for _, s := range [][2]codec.Span{{m.Envelope.RawID, again.Envelope.RawID}, {m.Envelope.Token, again.Envelope.Token}} {
			if s[0].Present() {
				back = append(back, codec.Edit{Span: s[1], Text: s[0].Of(frame)})
			}
		}
		if len(back) == 2 && back[0].Span.Off > back[1].Span.Off {
			back[0], back[1] = back[1], back[0]
		}
		require.Equal(t, string(frame), string(codec.AppendSplice(nil, out, back...)))
	})
}

// Members that stand twice are refused; escapes and order do not matter.
func TestMembers(t *testing.T) {
	object := []byte(` { "b" : {"a":1} , "\u0061":[ 1.0 ],"c":null}`)
	spans, err := route.Members(object, "a", "b", "d")
	require.NoError(t, err)
	require.Equal(t, `[ 1.0 ]`, string(spans[0].Of(object)))
	require.Equal(t, `{"a":1}`, string(spans[1].Of(object)))
	require.False(t, spans[2].Present())
	_, err = route.Member([]byte(`{"a":1,"\u0061":2}`), "a")
	require.ErrorIs(t, err, codec.ErrDuplicateMember)
	for _, none := range []string{``, `[]`, `7`, `null`} {
		_, err = route.Member([]byte(none), "a")
		require.ErrorIs(t, err, route.ErrNoObject, none)
	}
	text, ok := route.Text([]byte(`"a\u0062"`))
	require.True(t, ok)
	require.Equal(t, "ab", text)
	_, ok = route.Text([]byte(`7`))
	require.False(t, ok)
}
