package codec

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// checkAcceptSet holds Scan to the accept set of encoding/json with UTF-8, for
// text as a frame, as a result, inside params and as a batch element.
func checkAcceptSet(t *testing.T, text []byte) {
	t.Helper()
	const jsonDepth = 10000 // of encoding/json
	for _, wrap := range [][2]string{
		{"", ""},
		{`{"jsonrpc":"2.0","id":1,"result":`, `}`},
		{`{"jsonrpc":"2.0","id":1,"method":"m","params":{"_meta":`, `,"x":{}}}`},
		{`{"jsonrpc":"2.0","method":"m","params":{"k`, `}}`},
	} {
		frame := []byte(wrap[0] + string(text) + wrap[1])
		for _, profile := range []Profile{MCP, JSONRPC} {
			var e Envelope
			err := Scan(frame, &e, ScanOptions{Profile: profile, MaxDepth: jsonDepth})
			if errors.Is(err, ErrBatch) {
				for _, batchErr := range SplitBatch(frame, ScanOptions{MaxDepth: jsonDepth}) {
					err = batchErr
				}
			}
			bad, _ := errors.AsType[*SyntaxError](err)
			require.Equal(t, isJSON(frame), bad == nil || bad.Code != CodeParse, "%q: %v", frame, err)
		}
	}
}

// A walker is the slow twin of Scan: it reads a frame with the token reader of
// encoding/json, and follows the rules in the plainest way.
type walker struct {
	frame []byte
	bad   bool
	e     Envelope
	spans map[string]Span // by path, such as params/_meta
}

// walk reads one object from dec, which stands before it, and notes the members
// called names; a second one of the same name is bad.
func (w *walker) walk(dec *json.Decoder, path string, base int, names ...string) {
	token, err := dec.Token()
	if err != nil || token != json.Delim('{') {
		panic("not an object")
	}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			panic(err)
		}
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			panic(err)
		}
		end := base + int(dec.InputOffset())
		for _, name := range names {
			if key != name {
				continue
			}
			if _, twice := w.spans[path+name]; twice {
				w.bad = true
			}
			w.spans[path+name] = Span{uint32(end - len(raw)), uint32(end)}
		}
	}
}

func (w *walker) text(path string) []byte { return w.spans[path].Of(w.frame) }

func (w *walker) object(path string, names ...string) {
	span := w.spans[path]
	if text := w.text(path); len(text) > 0 && text[0] == '{' {
		w.walk(json.NewDecoder(bytes.NewReader(text)), path+"/", int(span.Off), names...)
	}
}

// reference gives the verdict of the twin on a frame that is a JSON object.
func reference(frame []byte, p Profile) (w *walker) {
	w = &walker{frame: frame, spans: map[string]Span{}}
	w.walk(json.NewDecoder(bytes.NewReader(frame)), "", 0, "jsonrpc", "id", "method", "params", "result", "error")
	switch p {
	case MCP:
		w.object("params", "_meta", "progressToken", "requestId", "name", "uri")
		w.object("params/_meta", "progressToken", subscriptionKey)
		w.object("result", "_meta")
		w.object("result/_meta", subscriptionKey)
	case LSP:
		w.object("params", "id")
	}
	w.readID(p)
	_, hasMethod := w.spans["method"]
	_, hasResult := w.spans["result"]
	_, hasError := w.spans["error"]
	_, hasID := w.spans["id"]
	version, hasVersion := w.spans["jsonrpc"]
	var text string
	if hasVersion && (json.Unmarshal(version.Of(frame), &text) != nil || text != "2.0") {
		w.bad = true
	}
	isError := hasError && string(w.text("error")) != "null"
	switch {
	case hasMethod:
		w.bad = w.bad || hasResult || hasError || !hasVersion || w.text("method")[0] != '"'
		w.e.Kind = KindRequest
		if !hasID || w.e.IDKind == IDNull && p == MCP {
			w.e.Kind = KindNotification
		}
		w.request(p)
	case isError:
		w.e.Kind, w.e.Error = KindError, w.spans["error"]
		w.e.Subscription = w.spans["result/_meta/"+subscriptionKey]
	default:
		w.bad = w.bad || !hasID || !hasResult && !hasError
		w.e.Kind, w.e.Result = KindResult, w.spans["result"]
		w.e.Subscription = w.spans["result/_meta/"+subscriptionKey]
	}
	return w
}

func (w *walker) request(p Profile) {
	w.e.Params = w.spans["params"]
	w.e.Token = w.spans["params/_meta/progressToken"]
	w.e.Subscription = w.spans["params/_meta/"+subscriptionKey]
	w.e.Progress = w.spans["params/progressToken"]
	w.e.RequestID = w.spans["params/requestId"]
	if p == LSP {
		w.e.RequestID = w.spans["params/id"]
	}
	var method string
	if json.Unmarshal(w.text("method"), &method) != nil {
		return
	}
	w.e.Method = Span{w.spans["method"].Off + 1, w.spans["method"].End - 1}
	w.e.Name = w.spans["params/name"]
	if uri := w.spans["params/uri"]; uri.Present() && (strings.HasPrefix(method, "resources/") || !w.e.Name.Present()) {
		w.e.Name = uri
	}
}

func (w *walker) readID(p Profile) {
	text := string(w.text("id"))
	digits := strings.Count(text, "") - 1 - strings.Count(text, "-") - strings.Count(text, "+") -
		strings.Count(text, ".") - strings.Count(strings.ToLower(text), "e")
	switch {
	case text == "":
		return
	case text == "null":
		w.e.IDKind = IDNull
	case text[0] == '"':
		w.e.IDKind = IDString
	case strings.ContainsAny(text[:1], "tf{["), digits > MaxIDDigits, p == MCP && strings.ContainsAny(text, ".eE"):
		w.bad = true
		return
	default:
		w.e.IDKind = IDNumber
		if n, err := strconv.ParseInt(text, 10, 64); err == nil && text != "-0" {
			w.e.IDKind, w.e.IntID = IDInt, n
		}
	}
	w.e.RawID = w.spans["id"]
}

// checkAgainstReference compares Scan with its slow twin: verdict, kind, id and
// every span.
func checkAgainstReference(t *testing.T, frame []byte, o ScanOptions) {
	t.Helper()
	var e Envelope
	err := Scan(frame, &e, o)
	if !isJSON(frame) || errors.Is(err, ErrTooDeep) {
		require.Error(t, err)
		return
	}
	if first := bytes.TrimLeft(frame, " \t\r\n")[0]; first != '{' {
		require.Equal(t, first == '[', errors.Is(err, ErrBatch))
		require.Error(t, err)
		return
	}
	want := reference(frame, o.Profile)
	require.Equal(t, want.bad, err != nil, "%q: %v", frame, err)
	if err != nil {
		bad, ok := errors.AsType[*SyntaxError](err)
		require.True(t, ok)
		require.Equal(t, CodeInvalidRequest, bad.Code)
		require.Equal(t, KindInvalid, e.Kind)
		return
	}
	e.Flags = 0
	require.Equal(t, want.e, e, "%q", frame)
}

// newlines reports whether a raw newline stands outside the strings of a JSON
// text, found by decoding token by token.
func newlines(text []byte) bool {
	dec := json.NewDecoder(bytes.NewReader(text))
	var last int64
	for {
		before := last
		_, err := dec.Token()
		last = dec.InputOffset()
		if errors.Is(err, io.EOF) {
			return bytes.ContainsAny(text[before:], "\r\n")
		}
		// A valid string holds no raw newline, so any in between lies outside.
		if bytes.ContainsAny(text[before:last], "\r\n") {
			return true
		}
	}
}
