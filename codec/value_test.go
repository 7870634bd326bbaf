package codec_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/codec"
)

type inner struct {
	Name  string         `json:"name"`
	Tags  []string       `json:"tags,omitempty"`
	Extra map[string]any `json:"extra"`
}

type record struct {
	ID      int64           `json:"id"`
	Small   uint8           `json:"small"`
	Rate    float64         `json:"rate"`
	OK      bool            `json:"ok"`
	Text    string          `json:"text"`
	Inner   *inner          `json:"inner"`
	List    []inner         `json:"list"`
	Raw     json.RawMessage `json:"raw,omitempty"`
	Bytes   []byte          `json:"bytes"`
	When    time.Time       `json:"when"`
	Any     any             `json:"any"`
	Quoted  int             `json:"quoted,string"`
	Skipped string          `json:"-"`
	inner
}

type loud struct{ text string }

func (l loud) MarshalJSON() ([]byte, error) { return []byte("{ \"loud\" :\n" + l.text + "}"), nil }

type failing struct{}

func (failing) MarshalJSON() ([]byte, error) { return nil, errors.New("will not") }

// values is the table that both engines must agree on: run it with and without
// the tag correlator_nosonic.
func values() []any {
	return []any{
		nil, true, 0, -1, int64(math.MinInt64), uint64(math.MaxUint64), int8(-128),
		0.0, math.Copysign(0, -1), 1.5, 1e20, 1e21, 1e-6, 1e-7, 123456789.125, math.MaxFloat64, math.SmallestNonzeroFloat64, float32(0.1), float32(1e-7), 1e100,
		"", "plain", "<&>", "\u2028", "a\"b\\c/d", "\x00\x1f\x7f\n\r\t\b\f", "测试 😀", "bad \xff\xfe end", "\xed\xa0\x80",
		[]int(nil), []int{}, []int{1, 2, 3}, [2]string{"a", "b"}, []byte(nil), []byte("bytes"), []any{nil, 1, "x", []any{}},
		map[string]int(nil), map[string]int{}, map[string]int{"b": 2, "a": 1, "": 0, "é": 3}, map[int]string{3: "c", 1: "a", -2: "b"},
		record{}, &record{ID: 1 << 60, Small: 255, Rate: 0.1, Text: "x", Inner: &inner{Extra: map[string]any{"z": 1.0, "a": []any{"q"}}}, List: []inner{{}, {Name: "n", Tags: []string{"t"}}}, Raw: json.RawMessage("{\"a\" : \n[1]}"), Bytes: []byte{0, 255}, Any: map[string]any{"k": nil}, Quoted: 7, Skipped: "s", inner: inner{Name: "in"}},
		(*record)(nil), json.RawMessage(` [1, 2] `), json.Number("12.50"), json.Number(""), loud{`"x"`}, &loud{"1"}, []any{loud{"[]"}},
		time.Date(2026, 7, 28, 1, 2, 3, 4, time.UTC), struct{}{}, struct{ A, B any }{1, "x"},
		// what cannot be encoded
		math.NaN(), math.Inf(1), math.Inf(-1), make(chan int), func() {}, complex(1, 2), failing{}, []any{failing{}}, loud{`{`}, json.RawMessage(`{`), json.Number("abc"), cycle(), map[string]any{"a": cyclicMap()}, map[complex64]int{1: 1},
	}
}

type node struct{ Next *node }

func cycle() *node {
	n := &node{}
	n.Next = n
	return n
}

func cyclicMap() map[string]any {
	m := map[string]any{}
	m["m"] = m
	return m
}

// encodeReference is what encoding/json makes of v, without HTML's escapes.
func encodeReference(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

func TestAppendValue(t *testing.T) {
	for _, v := range values() {
		t.Run(fmt.Sprintf("%T", v), func(t *testing.T) { checkEncode(t, v) })
	}
}

func checkEncode(t *testing.T, v any) {
	want, wantErr := encodeReference(v)
	got, err := codec.AppendValue([]byte("before"), v)
	buffer, bufferErr := codec.EncodeValue(v)
	defer codec.PutValue(buffer)
	if wantErr != nil {
		require.EqualError(t, err, wantErr.Error())
		require.IsType(t, wantErr, err)
		require.Equal(t, "before", string(got))
		require.EqualError(t, bufferErr, wantErr.Error())
		return
	}
	require.NoError(t, err)
	require.NoError(t, bufferErr)
	text := strings.TrimPrefix(string(got), "before")
	require.Equal(t, text, buffer.String())
	require.NotContains(t, text, "\n")
	require.True(t, json.Valid([]byte(text)), text)
	var a, b any
	require.NoError(t, json.Unmarshal([]byte(text), &a))
	require.NoError(t, json.Unmarshal(want, &b))
	require.Equal(t, b, a)
	// Byte for byte, but for the choice of escapes.
	same := strings.NewReplacer(`\u2028`, "\u2028", `\u0008`, `\b`, `\u000c`, `\f`)
	require.Equal(t, same.Replace(string(want)), same.Replace(text))
}

func TestAppendValueIntoGrowingBuffer(t *testing.T) {
	for _, room := range []int{0, 1, 7, 100, 10_000} {
		dst := make([]byte, 0, room)
		var want string
		for n := range 50 {
			v := map[string]any{"n": n, "text": strings.Repeat("x", n*n)}
			var err error
			dst, err = codec.AppendValue(dst, v)
			require.NoError(t, err)
			reference, _ := encodeReference(v)
			want += string(reference)
		}
		require.Equal(t, want, string(dst))
	}
}

func TestEncodeValueConcurrently(t *testing.T) {
	var group sync.WaitGroup
	for worker := range 4 {
		group.Go(func() {
			for n := range 300 {
				v := map[string]string{"text": strings.Repeat(fmt.Sprint(worker), n*n*(1+n%5))}
				b, err := codec.EncodeValue(v)
				if err != nil || b.String() != `{"text":"`+v["text"]+`"}` {
					panic("mixed up")
				}
				codec.PutValue(b)
			}
		})
	}
	group.Wait()
	codec.PutValue(nil)
}

// texts are decoded into each of targets.
func texts() []string {
	return []string{
		`null`, `true`, `false`, `0`, `-0`, `1`, `-1`, `1.5`, `1e2`, `1E+2`, `1.0`, `255`, `256`, `-129`, `9223372036854775807`, `9223372036854775808`, `18446744073709551616`, `1e400`, `1e-400`,
		`""`, `"x"`, `"\u0061\ud83d\ude00\n\/"`, `"\ud800"`, `"\udc00x"`, `"测试"`, `"1"`, `"true"`, `"aGk="`, `"!"`, `"2026-07-28T01:02:03Z"`,
		`[]`, `[1,2]`, `["a"]`, `[null]`, `[[[]]]`, ` [ 1 , 2 ] `, `{}`, `{"name":"n"}`, `{"NAME":"n"}`, `{"name":"a","name":"b"}`, `{"name":1}`, `{"unknown":{"a":[1,{"b":null}]},"name":"n"}`,
		`{"id":1,"small":2,"rate":0.5,"ok":true,"text":"t","inner":{"name":"i","extra":{"a":1}},"list":[{"name":"l","tags":["x"]}],"raw":[1, 2],"bytes":"aGk=","any":{"x":[1]},"quoted":"7","name":"e","extra":null}`,
		`{"id":"1"}`, `{"id":1.5}`, `{"id":1e2}`, `{"small":300}`, `{"small":-1}`, `{"quoted":7}`, `{"quoted":"x"}`, `{"inner":[]}`, `{"list":{}}`, `{"raw":nul}`, `{"bytes":"!"}`, `{"when":"x"}`, `{"ok":1}`, `{"text":null,"id":null,"list":null,"inner":null}`,
		`{"a":1}`, `{"1":"x"}`, `{"x":"y"}`, `{"\u0061":"b"}`,
		// no JSON
		``, ` `, `nul`, `tru`, `nullx`, `+1`, `01`, `1.`, `.5`, `1e`, `-`, `0x10`, `NaN`, `Infinity`, `"`, `"\`, `"\q"`, `"\u12"`, `"\uZZZZ"`, "\"\n\"", "\"\x00\"", "\"\x1f\"", `'x'`,
		`[`, `[1`, `[1,`, `[1,]`, `[,1]`, `[1 2]`, `]`, `{`, `{"a"`, `{"a":`, `{"a":1`, `{"a":1,`, `{"a":1,}`, `{a:1}`, `{1:2}`, `{"a" 1}`, `{"a"::1}`, `{"a":1 "b":2}`, `}`, `{}}`, `{}{}`, `1 2`, `[] x`, "{}\x00", "\xef\xbb\xbf{}", `{"unknown":[1,]}`, `{"unknown":01}`, `{"unknown":truE}`, `{"unknown":"\q"}`, "{\"unknown\":\"\n\"}", "{\"unknown\":\"\x01\",\"name\":\"n\"}", `{"unknown":{"a"::1}}`, `{"unknown":nulx}`, `{"unknown":tru}`, `{"unknown":1.}`, `{"unknown":{"b":"\u12"}}`, `//x`, `/**/{}`,
		"{\"na\nme\":\"x\"}", `{"\q":1}`,
		// depth
		strings.Repeat("[", 600) + strings.Repeat("]", 600), strings.Repeat("[", 5000) + strings.Repeat("]", 5000), strings.Repeat("[", 10001) + strings.Repeat("]", 10001), strings.Repeat("[", 100_000),
		`{"unknown":` + strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + `}`,
		// not UTF-8
		"\"\xff\"", "{\"unknown\":\"\xff\"}", "{\"\xff\":1}", "\"\xed\xa0\x80\"",
	}
}

func targets() []any {
	return []any{new(any), new(record), new(inner), new(map[string]any), new(map[string]string), new(map[int]string), new([]any), new([]int), new([2]int),
		new(string), new(int), new(uint8), new(float64), new(float32), new(bool), new(json.RawMessage), new(json.Number), new([]byte), new(time.Time), new(*int), new(struct{})}
}

// C28: which engine stands behind typed values depends on the processor, the Go
// version and a build tag; what is accepted, what is read and what is said of an
// error must not. CI runs this table with each engine and, where the kernel lets
// it, on 32 bits; `make cross` compiles the rest of the platforms.
func TestC28DecodeValueIsTheSameWithEveryEngine(t *testing.T) {
	for _, text := range texts() {
		for _, target := range targets() {
			name := text
			if len(name) > 60 {
				name = name[:60]
			}
			t.Run(fmt.Sprintf("%q/%T", name, target), func(t *testing.T) { checkDecode(t, []byte(text), reflect.TypeOf(target).Elem()) })
		}
	}
	require.Error(t, codec.DecodeValue([]byte(`1`), nil))
	require.Error(t, codec.DecodeValue([]byte(`1`), 5))
}

func checkDecode(t *testing.T, text []byte, into reflect.Type) {
	want, got := reflect.New(into), reflect.New(into)
	wantErr := json.Unmarshal(text, want.Interface())
	err := codec.DecodeValue(text, got.Interface())
	if !bytes.Equal(bytes.ToValidUTF8(text, nil), text) {
		require.ErrorIs(t, err, codec.ErrInvalidUTF8)
		return
	}
	if wantErr != nil {
		require.Error(t, err, "encoding/json says %v", wantErr)
		require.EqualError(t, err, wantErr.Error())
		return
	}
	require.NoError(t, err)
	require.Equal(t, want.Interface(), got.Interface())
}

func TestDecodedStringsAreCopies(t *testing.T) {
	text := []byte(`{"name":"first","tags":["a tag"],"extra":{"key":"value"}}`)
	var v inner
	require.NoError(t, codec.DecodeValue(text, &v))
	clear(text)
	require.Equal(t, inner{Name: "first", Tags: []string{"a tag"}, Extra: map[string]any{"key": "value"}}, v)
}

func TestDecodedStringDoesNotKeepItsDocument(t *testing.T) {
	document := []byte(`{"name":"short","extra":{"large":"` + strings.Repeat("x", 1<<20) + `"}}`)
	before := liveHeap()
	names := make([]string, 64)
	for i := range names {
		var v struct{ Name string }
		require.NoError(t, codec.DecodeValue(document, &v))
		names[i] = v.Name
	}
	require.Less(t, int64(liveHeap())-int64(before), int64(8<<20))
	require.Equal(t, "short", names[63])
	runtime.KeepAlive(document)
}

func TestDecodeLargeValue(t *testing.T) {
	for _, n := range []int{2<<20 - 10, 2 << 20, 5 << 20} {
		text := strings.Repeat("x", n)
		var v []string
		require.NoError(t, codec.DecodeValue([]byte(`["`+text+`"]`), &v))
		require.Equal(t, []string{text}, v)
	}
}

func TestValueEngine(t *testing.T) {
	require.Contains(t, []string{"sonic", "encoding/json"}, codec.ValueEngine)
}

// FuzzDecodeValue holds both engines to encoding/json's accept set and results.
func FuzzDecodeValue(f *testing.F) {
	for _, text := range texts() {
		f.Add([]byte(text), uint8(1))
	}
	f.Fuzz(func(t *testing.T, text []byte, target uint8) {
		all := targets()
		checkDecode(t, text, reflect.TypeOf(all[int(target)%len(all)]).Elem())
	})
}
