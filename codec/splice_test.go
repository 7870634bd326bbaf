package codec_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/codec"
)

const call = `{"jsonrpc":"2.0","id":12345,"method":"tools/call","params":{"name":"x","_meta":{"progressToken":"abc"}}}`

func TestAppendSplice(t *testing.T) {
	m, err := codec.Parse([]byte(call), codec.ScanOptions{})
	require.NoError(t, err)
	e := m.Envelope
	for _, c := range []struct {
		edits []codec.Edit
		want  string
	}{
		{nil, call},
		{[]codec.Edit{{Span: e.RawID, Text: []byte(`"a-longer-id"`)}}, strings.Replace(call, "12345", `"a-longer-id"`, 1)},
		{[]codec.Edit{{Span: e.RawID, Text: []byte(`1`)}, {Span: e.Token, Text: []byte(`99`)}},
			strings.NewReplacer("12345", "1", `"abc"`, "99").Replace(call)},
		{[]codec.Edit{{Span: e.Params, Text: nil}}, call[:e.Params.Off] + "}"},
		{[]codec.Edit{{Span: codec.Span{Off: 1, End: 1}, Text: []byte(`"a":1,`)}}, `{"a":1,` + call[1:]},
	} {
		got := codec.AppendSplice([]byte("before"), []byte(call), c.edits...)
		require.Equal(t, "before"+c.want, string(got))
	}
	for _, edits := range [][]codec.Edit{
		{{Text: []byte("an absent span")}},
		{{Span: e.Token}, {Span: e.RawID}},
		{{Span: e.Params}, {Span: e.Token}},
		{{Span: codec.Span{Off: 5, End: 4}}},
		{{Span: codec.Span{Off: 5, End: 1000}}},
	} {
		require.Panics(t, func() { codec.AppendSplice(nil, []byte(call), edits...) })
	}
}

// own puts frame where it may be spliced: alone in a chunk.
func own(t testing.TB, frame string) codec.Message {
	m, err := codec.Parse([]byte(frame), codec.ScanOptions{})
	require.NoError(t, err)
	m.Retain()
	return m
}

// checkViews requires that m says what a fresh scan of its frame says.
func checkViews(t testing.TB, m *codec.Message) {
	fresh, err := codec.Parse(m.Frame(), codec.ScanOptions{})
	require.NoError(t, err)
	require.Equal(t, fresh.Envelope, m.Envelope)
	require.Equal(t, fresh.ID(), m.ID())
}

func TestSpliceInPlace(t *testing.T) {
	for _, id := range []string{`1`, `12345`, `"abc"`, `281474976710657`, `"0123456789012345678901234567890123456"`, `-7`, `null`} {
		for _, token := range []string{`1`, `"abc"`, `"0123456789"`} {
			m := own(t, call)
			require.True(t, codec.SpliceInPlace(&m, m.Envelope.RawID, []byte(id)))
			require.True(t, codec.SpliceInPlace(&m, m.Envelope.Token, []byte(token)))
			require.Equal(t, strings.NewReplacer("12345", id, `"abc"`, token).Replace(call), string(m.Frame()))
			if id != `null` {
				checkViews(t, &m)
			}
			m.Release()
		}
	}
}

func TestSpliceInPlaceReadsTheNumber(t *testing.T) {
	ids := []string{`0`, `-0`, `00`, `-1`, `1.5`, `1e3`, `12a4`, `"1"`, `12345678901234567890123`, `9223372036854775807`, `9223372036854775808`}
	for n, text := 1, "1"; n < 20; n, text = n+1, text+string(rune('0'+(n+1)%10)) {
		ids = append(ids, text)
	}
	for _, frame := range []string{call, `{"id":1,"jsonrpc":"2.0","method":"m"}`, `{"jsonrpc":"2.0","method":"m","id":123456789012}`} {
		for _, text := range ids {
			m := own(t, frame)
			require.True(t, codec.SpliceInPlace(&m, m.Envelope.RawID, []byte(text)))
			want, _ := codec.ParseID([]byte(text), codec.JSONRPC)
			require.Equal(t, want.Kind(), m.IDKind, text)
			n, _ := want.Int()
			require.Equal(t, n, m.IntID, text)
			m.Release()
		}
	}
}

func TestSpliceInPlaceOfEveryMember(t *testing.T) {
	m := own(t, call)
	for _, step := range []struct {
		span func() codec.Span
		text string
	}{
		{func() codec.Span { return m.Envelope.Method }, `\u0061`},
		{func() codec.Span { return m.Envelope.Method }, `abc`},
		{func() codec.Span { return m.Envelope.Name }, `"another tool"`},
		{func() codec.Span { return m.Envelope.Params }, `{"name":"y","_meta":{"progressToken":5,"x":"` + strings.Repeat("x", 60) + `"}}`},
	} {
		require.True(t, codec.SpliceInPlace(&m, step.span(), []byte(step.text)))
		require.Contains(t, string(m.Frame()), step.text)
	}
	require.Empty(t, m.Token(), "what lay in the replaced part is forgotten")
	require.Equal(t, "abc", string(m.Method()))
	m.Release()
}

func TestSpliceInPlaceKeepsToTheFrame(t *testing.T) {
	other := sized(9, 300)
	for _, id := range []string{`1`, `281474976710657`, `"` + strings.Repeat("x", 20) + `"`} {
		_, next := messages(t, other, call, other, call, other)
		for range 2 {
			m := next()
			require.Equal(t, other, string(m.Frame()))
			m = next()
			require.True(t, codec.SpliceInPlace(&m, m.Envelope.RawID, []byte(id)), "room lies before it")
			require.Equal(t, strings.Replace(call, "12345", id, 1), string(m.Frame()))
			checkViews(t, &m)
		}
		m := next()
		require.Equal(t, other, string(m.Frame()), "the frame behind is whole")
	}
}

func TestSpliceInPlaceRefuses(t *testing.T) {
	m, err := codec.Parse([]byte(call), codec.ScanOptions{})
	require.NoError(t, err)
	before := m
	require.False(t, codec.SpliceInPlace(&m, m.Envelope.RawID, []byte(`1`)), "bytes of the caller of Parse")
	d := m.Detach()
	require.False(t, codec.SpliceInPlace(&d, d.Envelope.RawID, []byte(`1`)), "bytes that other copies may share")
	m.Retain()
	require.False(t, codec.SpliceInPlace(&m, m.Envelope.Error, []byte(`1`)), "an absent span")
	require.False(t, codec.SpliceInPlace(&m, codec.Span{Off: 5, End: 1000}, []byte(`1`)), "not of this frame")
	require.False(t, codec.SpliceInPlace(&m, m.Envelope.RawID, make([]byte, 1000)), "no room")
	other := m
	other.Retain()
	require.False(t, codec.SpliceInPlace(&m, m.Envelope.RawID, []byte(`1`)), "somebody else looks at it")
	other.Release()
	require.Equal(t, call, string(m.Frame()))
	require.Equal(t, before.Envelope, m.Envelope)
	require.True(t, codec.SpliceInPlace(&m, m.Envelope.RawID, []byte(`1`)))
	m.Release()

	// A frame that is first in its chunk has the headroom, and no more; what lies
	// behind it is the reader's.
	_, next := messages(t, call)
	b := next()
	require.False(t, codec.SpliceInPlace(&b, b.Envelope.RawID, []byte(`"`+strings.Repeat("x", 40)+`"`)))
	require.True(t, codec.SpliceInPlace(&b, b.Envelope.RawID, []byte(`"`+strings.Repeat("x", 30)+`"`)))

	// A frame shared by reference with its chunk's reader grows nowhere.
	_, next = messages(t, sized(1, 1000), sized(2, 1000))
	b = next()
	b.Retain()
	require.False(t, codec.SpliceInPlace(&b, b.Envelope.RawID, []byte(`1234`)))
	b.Release()
}

// FuzzSplice replaces a member in place and while copying, and puts the old text
// back: nothing but the member changes, on either way.
func FuzzSplice(f *testing.F) {
	f.Add([]byte(call), `1`, uint8(0))
	f.Add([]byte(call), `"281474976710657"`, uint8(5))
	f.Add([]byte(`{"jsonrpc":"2.0","result":{"_meta":{"io.modelcontextprotocol/subscriptionId":7}},"id":"x"}`), `null`, uint8(9))
	f.Add([]byte(`{"jsonrpc":"2.0","error":{"code":1,"message":""},"id":1}`), `3`, uint8(0))
	f.Add([]byte(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":12,"uri":"a"}}`), `"a\"b"`, uint8(7))
	f.Fuzz(func(t *testing.T, frame []byte, text string, which uint8) {
		parsed, err := codec.Parse(frame, codec.ScanOptions{})
		if err != nil {
			return
		}
		spans := func(e *codec.Envelope) []codec.Span {
			return []codec.Span{e.RawID, e.Params, e.Result, e.Error, e.Progress, e.Token, e.Name, e.RequestID, e.Method, e.Subscription}
		}
		n := int(which) % 10
		span := spans(&parsed.Envelope)[n]
		if !span.Present() {
			return
		}
		old := string(span.Of(frame))
		want := string(frame[:span.Off]) + text + string(frame[span.End:])
		require.Equal(t, want, string(codec.AppendSplice(nil, frame, codec.Edit{Span: span, Text: []byte(text)})))

		m := own(t, string(frame))
		if codec.SpliceInPlace(&m, span, []byte(text)) {
			require.Equal(t, want, string(m.Frame()))
			if fresh, err := codec.Parse([]byte(want), codec.ScanOptions{}); err == nil && spans(&fresh.Envelope)[n].Len() == len(text) {
				checkAround(t, &m, &fresh, span)
				if text == "" { // an empty method: its span is no place to splice at
					m.Release()
					return
				}
				require.True(t, codec.SpliceInPlace(&m, spans(&m.Envelope)[n], []byte(old)), "back to what fitted")
				require.Equal(t, string(frame), string(m.Frame()))
			}
		} else {
			require.Equal(t, string(frame), string(m.Frame()))
			require.Equal(t, parsed.Envelope, m.Envelope)
		}
		m.Release()
	})
}

// checkAround compares what m knows outside the replaced part with a fresh scan.
func checkAround(t *testing.T, m, fresh *codec.Message, replaced codec.Span) {
	pairs := [][2]codec.Span{
		{m.Envelope.RawID, fresh.Envelope.RawID}, {m.Envelope.Method, fresh.Envelope.Method},
		{m.Envelope.Params, fresh.Envelope.Params}, {m.Envelope.Result, fresh.Envelope.Result}, {m.Envelope.Error, fresh.Envelope.Error},
	}
	for i, p := range pairs {
		require.Equal(t, p[1], p[0], fmt.Sprintf("span %d after a splice at %v", i, replaced))
	}
	require.Equal(t, fresh.IDKind, m.IDKind)
	require.Equal(t, fresh.IntID, m.IntID)
}
