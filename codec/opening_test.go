package codec

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// scansAlike holds Scan, which takes short answers by themselves, to the scanner that
// knows nothing of the way messages begin.
func scansAlike(t *testing.T, frame []byte, o ScanOptions) {
	t.Helper()
	var got, want Envelope
	err, wantErr := Scan(frame, &got, o), scanBy(portable, frame, &want, o)
	if got != want || (err == nil) != (wantErr == nil) {
		require.Equal(t, want, got, "%+v: %q", o, frame)
	}
	if err != nil {
		require.Equal(t, wantErr, err, "%+v: %q", o, frame)
	}
}

func TestOpening(t *testing.T) {
	tails := []string{
		``, `}`, ` }`, `,}`, `,"result":}`, `,"result":1`, `,"result":1}}`, `,"result":1} `, `,"result":1,"result":2}`,
		`,"result":1,"id":2}`, `,"result":1,"jsonrpc":"2.0"}`, `,"result":1,"error":{}}`, `,"result":1,"x":[{}]}`,
		` ,"result":1}`, `, "result":1}`, `,"result" :1}`, `,"result": 1}`, `,"result":1 }`, "\n,\"result\":1\n}",
		`,"Result":1}`, `,"resulT":1}`, `,"error":{"code":1}}`, `,"method":"m"}`, `,"method":"m","params":{}}`,
		`,"method":"m","result":1}`, `,"id":7,"result":1}`, `,"id":"a","result":1}`, `,"id":null,"method":"m"}`,
	}
	begins := []string{
		`{"jsonrpc":"2.0","id":7`, `{"jsonrpc":"2.0","id":1234567890123456`, `{"jsonrpc":"2.0","id":12345678901234567`,
		`{"jsonrpc":"2.0","id":07`, `{"jsonrpc":"2.0","id":-7`, `{"jsonrpc":"2.0","id":7.5`, `{"jsonrpc":"2.0","id":"7"`,
		`{"jsonrpc":"2.0","id":`, `{"jsonrpc":"2.0","id":}`, `{"jsonrpc":"2.0"`, `{"jsonrpc":"2.1","id":7`, `{"jsonrpc":"2.0","iD":7`,
		`{"jsonrpc":"2.0" ,"id":7`, ` {"jsonrpc":"2.0","id":7`, `{"jsonrpc": "2.0","id":7`, `["jsonrpc":"2.0","id":7`,
	}
	for _, begin := range begins {
		for _, tail := range tails {
			for _, p := range []Profile{MCP, JSONRPC, LSP} {
				frame := []byte(begin + tail)
				scansAlike(t, frame, ScanOptions{Profile: p})
				scansAlike(t, append(frame, strings.Repeat(" ", 40)...), ScanOptions{Profile: p})
			}
		}
	}
}

// Every text, and every byte behind each, as the result of a short answer.
func TestShortAnswers(t *testing.T) {
	texts := []string{`{}`, `[]`, `true`, `false`, `null`, `"ok"`, `""`, `"`, `0`, `-`, `-7`, `0.5`, `42`, `1234567`, `12345678`, `123456789`, `1e5`, `{"n":1}`, `[1,2]`, ``}
	for _, c := range jsonTexts {
		texts = append(texts, c.text)
	}
	for _, o := range []ScanOptions{{}, {Profile: JSONRPC}, {MaxDepth: 1}, {MaxDepth: 2}, {MaxDepth: -1}, {TrustBody: true}, {RefuseLoneSurrogates: true}} {
		for _, text := range texts {
			frame := func(text string) []byte { return []byte(`{"jsonrpc":"2.0","id":1,"result":` + text + `}`) }
			scansAlike(t, frame(text), o)
			for c := range 256 {
				scansAlike(t, frame(text+string([]byte{byte(c)})), o)
				scansAlike(t, frame(string([]byte{byte(c)})+text), o)
				scansAlike(t, append(frame(text), byte(c)), o)
			}
		}
	}
}

// Strings of every length, with something special at every place.
func TestShortAnswersOfOneString(t *testing.T) {
	for n := range longToken + 10 {
		text := []byte(`{"jsonrpc":"2.0","id":123,"result":"` + strings.Repeat("x", n) + `"}`)
		scansAlike(t, text, ScanOptions{})
		for at := len(text) - n - 3; at < len(text); at++ {
			was := text[at]
			for _, c := range "\"\\\n\x00\x1f\x7f}n" {
				text[at] = byte(c)
				scansAlike(t, text, ScanOptions{})
			}
			text[at] = 0xC3
			scansAlike(t, text, ScanOptions{})
			text[at] = was
		}
	}
}
