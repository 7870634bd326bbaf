package codec

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/internal/frameset"
	"github.com/correlator-go/correlator/internal/invariants"
)

// isJSON is the accept set that Scan keeps to.
func isJSON(b []byte) bool { return json.Valid(b) && utf8.Valid(b) }

func TestScanAcceptsJSONOnly(t *testing.T) {
	for _, c := range jsonTexts {
		t.Run(c.name, func(t *testing.T) { checkAcceptSet(t, []byte(c.text)) })
	}
}

func TestScanEnvelopes(t *testing.T) {
	for _, c := range envelopes {
		t.Run(c.name, func(t *testing.T) {
			var e Envelope
			err := Scan([]byte(c.frame), &e, ScanOptions{})
			require.Equal(t, c.kind, e.Kind)
			if c.code == 0 {
				require.NoError(t, err)
			} else {
				bad, ok := errors.AsType[*SyntaxError](err)
				require.True(t, ok, "%v", err)
				require.Equal(t, c.code, bad.Code)
				require.Contains(t, bad.Problem, c.problem)
				require.LessOrEqual(t, bad.Offset, len(c.frame))
			}
			checkAgainstReference(t, []byte(c.frame), ScanOptions{})
		})
	}
}

func TestScanFindsEveryMember(t *testing.T) {
	m, err := Parse([]byte(`{"jsonrpc":"2.0","id":"i\"d","method":"a\/b","params":{"requestId":-3,"progressToken":"p",`+
		`"_meta":{"progressToken":12,"io.modelcontextprotocol/subscriptionId":"s"},"uri":"u","name":"n"}}`), ScanOptions{})
	require.NoError(t, err)
	require.Equal(t, KindRequest, m.Kind)
	require.Equal(t, `"i\"d"`, string(m.RawID()))
	require.Equal(t, StringID(`i"d`), m.ID())
	require.True(t, m.Flags.Has(FlagMethodEscaped))
	require.Equal(t, "a/b", string(m.Method()))
	require.Equal(t, "-3", string(m.RequestID()))
	require.Equal(t, `"p"`, string(m.Progress()))
	require.Equal(t, "12", string(m.Token()))
	require.Equal(t, `"s"`, string(m.Subscription()))
	require.Equal(t, `"n"`, string(m.Name()))
	require.Nil(t, m.Result())
	require.Nil(t, m.RawError())
	require.Nil(t, m.Err())
}

func TestSubjectFollowsTheMethod(t *testing.T) {
	for method, want := range map[string]string{
		`tools/call`: `"n"`, `resources/read`: `"u"`, `r\u0065sources\/read`: `"u"`, `resources`: `"n"`, ``: `"n"`,
	} {
		m, err := Parse([]byte(`{"params":{"name":"n","uri":"u"},"jsonrpc":"2.0","id":1,"method":"`+method+`"}`), ScanOptions{})
		require.NoError(t, err)
		require.Equal(t, want, string(m.Name()), method)
	}
	m, err := Parse([]byte(`{"params":{"uri":"u"},"jsonrpc":"2.0","id":1,"method":"tools/call"}`), ScanOptions{})
	require.NoError(t, err)
	require.Equal(t, `"u"`, string(m.Name()))
}

func TestParamsOfAResponseAreNoParams(t *testing.T) {
	m, err := Parse([]byte(`{"jsonrpc":"2.0","id":1,"params":{"name":"n","requestId":1,"progressToken":1,`+
		`"_meta":{"progressToken":2,"io.modelcontextprotocol/subscriptionId":3}},"result":1}`), ScanOptions{})
	require.NoError(t, err)
	require.Equal(t, Envelope{Kind: KindResult, IDKind: IDInt, IntID: 1, RawID: m.Envelope.RawID, Result: m.Envelope.Result}, m.Envelope)
}

func TestProfiles(t *testing.T) {
	request := func(id string) string {
		return `{"jsonrpc":"2.0","id":` + id + `,"method":"m","params":{"id":4,"id2":5}}`
	}
	for _, c := range []struct {
		profile Profile
		id      string
		kind    Kind
		idKind  IDKind
	}{
		{MCP, "1.5", KindInvalid, IDAbsent},
		{MCP, "1e2", KindInvalid, IDAbsent},
		{MCP, "null", KindNotification, IDNull},
		{MCP, "-0", KindRequest, IDNumber},
		{MCP, "9223372036854775807", KindRequest, IDInt},
		{MCP, "9223372036854775808", KindRequest, IDNumber},
		{MCP, "-9223372036854775808", KindRequest, IDInt},
		{MCP, strings.Repeat("9", MaxIDDigits), KindRequest, IDNumber},
		{MCP, strings.Repeat("9", MaxIDDigits+1), KindInvalid, IDAbsent},
		{JSONRPC, "1.5", KindRequest, IDNumber},
		{JSONRPC, "1E+2", KindRequest, IDNumber},
		{JSONRPC, "null", KindRequest, IDNull},
		{JSONRPC, strings.Repeat("9", MaxIDDigits+1), KindInvalid, IDAbsent},
		{LSP, "1.5", KindRequest, IDNumber},
		{LSP, "null", KindRequest, IDNull},
		{LSP, "false", KindInvalid, IDAbsent},
	} {
		t.Run(c.profile.String()+" "+c.id, func(t *testing.T) {
			frame := []byte(request(c.id))
			m, err := Parse(frame, ScanOptions{Profile: c.profile})
			require.Equal(t, c.kind == KindInvalid, err != nil, "%v", err)
			require.Equal(t, c.kind, m.Kind)
			require.Equal(t, c.idKind, m.IDKind)
			require.Equal(t, c.id == "null", m.Flags.Has(FlagNullID))
			require.Equal(t, c.profile == LSP, string(m.RequestID()) == "4")
			if err == nil {
				require.Equal(t, c.id, string(m.RawID()))
				require.Equal(t, c.id, string(m.ID().Append(nil)))
			} else {
				require.ErrorIs(t, err, ErrInvalidID)
			}
		})
	}
}

func TestPlainProfileReadsNothingInside(t *testing.T) {
	frame := []byte(`{"jsonrpc":"2.0","id":1,"method":"m","params":{"name":1,"name":2,"_meta":{"progressToken":1}}}`)
	m, err := Parse(frame, ScanOptions{Profile: JSONRPC})
	require.NoError(t, err)
	require.Nil(t, m.Token())
	require.Nil(t, m.Name())
}

func TestFlags(t *testing.T) {
	for _, c := range []struct {
		name, frame string
		flags       Flags
	}{
		{"none", `{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":"\n"}}`, 0},
		{"newline before", "\n" + `{"jsonrpc":"2.0","method":"m"}`, FlagNewline},
		{"newline behind", `{"jsonrpc":"2.0","method":"m"}` + "\r", FlagNewline},
		{"newline in the envelope", `{"jsonrpc":"2.0",` + "\n" + `"method":"m"}`, FlagNewline},
		{"newline before a colon", `{"jsonrpc"` + "\n" + `:"2.0","method":"m"}`, FlagNewline},
		{"newline after a colon", `{"jsonrpc":` + "\n" + `"2.0","method":"m"}`, FlagNewline},
		{"newline in params", `{"jsonrpc":"2.0","method":"m","params":{` + "\r" + `}}`, FlagNewline},
		{"newline in a body", `{"jsonrpc":"2.0","method":"m","params":{"a":[1` + "\n" + `]}}`, FlagNewline},
		{"newline in an empty array", `{"jsonrpc":"2.0","method":"m","params":[` + "\n" + `]}`, FlagNewline | FlagParamsArray},
		{"spaces", " { \"jsonrpc\" : \"2.0\" ,\t\"method\" : \"m\" } ", 0},
		{"null params", `{"jsonrpc":"2.0","method":"m","params":null}`, FlagParamsNull},
		{"scalar params", `{"jsonrpc":"2.0","method":"m","params":7}`, FlagParamsScalar},
		{"escaped method", `{"jsonrpc":"2.0","method":"\u006d"}`, FlagMethodEscaped},
		{"1.0", `{"id":1,"result":7,"error":null}`, FlagNoVersion | FlagErrorNull},
		{"both", `{"jsonrpc":"2.0","id":1,"result":7,"error":"x"}`, FlagResultIgnored},
	} {
		t.Run(c.name, func(t *testing.T) {
			var e Envelope
			require.NoError(t, Scan([]byte(c.frame), &e, ScanOptions{}))
			require.Equal(t, c.flags, e.Flags)
		})
	}
}

func TestRefusedFrameKeepsItsID(t *testing.T) {
	for _, c := range []struct{ name, frame, id string }{
		{"wrong version", `{"jsonrpc":"1.0","id":7,"method":"m"}`, "7"},
		{"id behind the trouble", `{"jsonrpc":"2.0","method":5,"id":"x"}`, `"x"`},
		{"both", `{"jsonrpc":"2.0","id":7,"method":"m","result":1}`, "7"},
		{"cut behind the id", `{"jsonrpc":"2.0","id":7,"met`, "7"},
		{"cut in the id", `{"jsonrpc":"2.0","id":7`, ""},
		{"cut in a long id", `{"jsonrpc":"2.0","id":12345678`, ""},
		{"cut in a string id", `{"jsonrpc":"2.0","id":"abc`, ""},
		{"two ids", `{"jsonrpc":"2.0","id":7,"method":"m","id":8}`, ""},
		{"bad id", `{"jsonrpc":"2.0","id":1.5,"method":"m"}`, ""},
		{"null id", `{"jsonrpc":"1.0","id":null,"method":"m"}`, "null"},
		{"garbage behind", `{"jsonrpc":"2.0","id":7,"method":"m"}x`, "7"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, err := Parse([]byte(c.frame), ScanOptions{})
			require.Error(t, err)
			require.Equal(t, c.id, string(m.RawID()))
			require.Equal(t, c.id == "", m.ID().IsAbsent())
		})
	}
}

func TestScanClearsTheEnvelope(t *testing.T) {
	e := Envelope{IntID: 1, RawID: Span{1, 2}, Token: Span{3, 4}, Kind: KindRequest, IDKind: IDInt, Flags: 255}
	require.Error(t, Scan([]byte(`x`), &e, ScanOptions{}))
	require.Equal(t, Envelope{}, e)
}

func TestDepth(t *testing.T) {
	nested := func(n int) []byte { // n containers, the message counted
		return []byte(`{"jsonrpc":"2.0","id":1,"result":` + strings.Repeat("[", n-1) + strings.Repeat("]", n-1) + `}`)
	}
	var e Envelope
	require.NoError(t, Scan(nested(DefaultMaxDepth), &e, ScanOptions{}))
	err := Scan(nested(DefaultMaxDepth+1), &e, ScanOptions{})
	require.ErrorIs(t, err, ErrTooDeep)
	require.Equal(t, `1`, string(e.RawID.Of(nested(9))))
	require.NoError(t, Scan(nested(100_000), &e, ScanOptions{MaxDepth: -1}))
	require.NoError(t, Scan(nested(3), &e, ScanOptions{MaxDepth: 3}))
	require.ErrorIs(t, Scan(nested(4), &e, ScanOptions{MaxDepth: 3}), ErrTooDeep)

	bomb := []byte(`{"jsonrpc":"2.0","id":1,"result":` + strings.Repeat("[", 16<<20))
	require.ErrorIs(t, Scan(bomb, &e, ScanOptions{}), ErrTooDeep)
	require.ErrorIs(t, Scan(bomb, &e, ScanOptions{MaxDepth: -1}), ErrTruncated)

	meta := []byte(`{"jsonrpc":"2.0","id":1,"method":"m","params":{"_meta":{"progressToken":1}}}`)
	require.NoError(t, Scan(meta, &e, ScanOptions{MaxDepth: 3}))
	require.ErrorIs(t, Scan(meta, &e, ScanOptions{MaxDepth: 2}), ErrTooDeep)
	require.ErrorIs(t, Scan(meta, &e, ScanOptions{MaxDepth: 1}), ErrTooDeep)
}

func TestLoneSurrogates(t *testing.T) {
	for text, lone := range map[string]bool{
		`\ud83d\ude00`: false, `\uD800`: true, `\udc00`: true, `\ud800x`: true, `\ud800\n`: true,
		`\ud800\ud800`: true, `\ud800\u0041`: true, `\udc00\ud800`: true, `\ud800\udc00\udc00`: true, `\ufffd\ue000`: false,
	} {
		frame := []byte(`{"jsonrpc":"2.0","id":1,"result":"` + text + `"}`)
		var e Envelope
		require.NoError(t, Scan(frame, &e, ScanOptions{}), text)
		err := Scan(frame, &e, ScanOptions{RefuseLoneSurrogates: true})
		require.Equal(t, lone, err != nil, text)
	}
}

// Every prefix and every position of a special byte in a word takes the same
// verdict as encoding/json: the word-wise paths have no edge of their own.
func TestEveryAlignment(t *testing.T) {
	for _, special := range []string{`\n`, `\u00e9`, "é", "中", "😀", "\x1f", `\q`, "\xff", `"`, ``} {
		for before := range 20 {
			for after := range 12 {
				text := `{"a":"` + strings.Repeat("x", before) + special + strings.Repeat("y", after) + `"}`
				checkAcceptSet(t, []byte(text))
			}
		}
	}
}

func TestEveryPrefixOfAFrame(t *testing.T) {
	for _, frame := range frameset.Make(frameset.Request, 3, 5) {
		for n := range frame {
			var e Envelope
			require.ErrorIs(t, Scan(frame[:n], &e, ScanOptions{}), ErrTruncated, "%q", frame[:n])
		}
	}
}

func TestScanDoesNotAllocate(t *testing.T) {
	if invariants.Race || invariants.Enabled {
		t.Skip("the instrumentation allocates")
	}
	frames := frameset.Make(frameset.Mix, 1, 100)
	deep := []byte(`{"jsonrpc":"2.0","id":1,"result":` + strings.Repeat("[", 500) + strings.Repeat("]", 500) + `}`)
	for _, c := range envelopes {
		if c.code == 0 {
			frames = append(frames, []byte(c.frame))
		}
	}
	frames = append(frames, deep)
	require.Zero(t, testing.AllocsPerRun(10, func() {
		for _, f := range frames {
			var e Envelope // stays on the stack: Scan keeps nothing
			if err := Scan(f, &e, ScanOptions{}); err != nil {
				panic(err)
			}
			if m, err := Parse(f, ScanOptions{}); err != nil || len(m.Frame()) != len(f) || m.Kind != e.Kind {
				panic(err)
			}
		}
	}))
}
