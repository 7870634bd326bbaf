package codec_test

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/correlator-go/correlator/codec"
)

func ExampleReader() {
	stream := strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}
{"jsonrpc":"2.0","id":2,"meth
{"jsonrpc":"2.0","method":"notifications/initialized"}
`)
	r := codec.NewReader(stream, codec.ReaderOptions{})
	var m codec.Message
	for {
		err := r.ReadMessage(&m)
		switch {
		case err == nil:
			fmt.Println(m.Kind, string(m.Method()))
		case codec.Recoverable(err):
			fmt.Println("refused:", err)
		case errors.Is(err, io.EOF):
			fmt.Println("end")
			return
		}
	}
	// Output:
	// request tools/list
	// refused: codec: frame ends inside a value at byte 29
	// notification notifications/initialized
	// end
}

func ExampleReader_Next() {
	stream := strings.NewReader("Content-Length: 17\r\n\r\n{\"jsonrpc\":\"2.0\"}")
	r := codec.NewReader(stream, codec.ReaderOptions{Framer: codec.HeaderFramer{}})
	frame, err := r.Next()
	fmt.Println(string(frame), err)
	// Output: {"jsonrpc":"2.0"} <nil>
}

// A frame that is too large ends the call that it answers, not the connection.
func ExampleFrameError() {
	stream := strings.NewReader(`{"jsonrpc":"2.0","id":7,"result":"` + strings.Repeat("x", 1000) + "\"}\n")
	r := codec.NewReader(stream, codec.ReaderOptions{MaxFrame: 500})
	_, err := r.Next()
	if bad, ok := errors.AsType[*codec.FrameError](err); ok {
		id, _ := codec.PeekID(bad.Prefix, codec.MCP)
		fmt.Println(id, bad, codec.Recoverable(err))
	}
	// Output: 7 codec: frame too large true
}

func ExampleFramer() {
	var batch []byte
	for _, f := range []codec.Framer{codec.LineFramer{}, codec.HeaderFramer{}, codec.LengthFramer{}} {
		start := len(batch)
		batch = codec.AppendRequest(f.Open(batch), codec.IntID(1), "ping", nil)
		batch, _ = f.Seal(batch, start)
		fmt.Printf("%q\n", batch[start:])
	}
	// Output:
	// "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n"
	// "Content-Length: 40\r\n\r\n{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}"
	// "\x00\x00\x00({\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}"
}

func ExampleMessage_Retain() {
	r := codec.NewReader(strings.NewReader("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":5}\n"), codec.ReaderOptions{})
	var m codec.Message
	_ = r.ReadMessage(&m)
	m.Retain()
	answer := make(chan codec.Message, 1)
	answer <- m // may be read long after the reader went on
	fmt.Println(r.ReadMessage(&m))

	kept := <-answer
	fmt.Println(string(kept.Result()))
	kept.Release()
	// Output:
	// EOF
	// 5
}

func ExampleAppendRequest() {
	fmt.Printf("%s\n", codec.AppendRequest(nil, codec.IntID(1), "tools/call", []byte(`{"name":"echo"}`)))
	fmt.Printf("%s\n", codec.AppendNotification(nil, "notifications/initialized", nil))
	fmt.Printf("%s\n", codec.AppendResult(nil, []byte(`"a"`), []byte(`{}`)))
	fmt.Printf("%s\n", codec.AppendError(nil, []byte(`7`), &codec.Error{Code: codec.CodeMethodNotFound, Message: "no such method"}))
	// Output:
	// {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo"}}
	// {"jsonrpc":"2.0","method":"notifications/initialized"}
	// {"jsonrpc":"2.0","id":"a","result":{}}
	// {"jsonrpc":"2.0","id":7,"error":{"code":-32601,"message":"no such method"}}
}

func ExampleAppendParamsWithToken() {
	params, err := codec.AppendParamsWithToken(nil, []byte(`{"name":"build"}`), codec.IntID(7))
	fmt.Println(string(params), err)
	// Output: {"_meta":{"progressToken":7},"name":"build"} <nil>
}

func ExampleAppendSplice() {
	frame := []byte(`{"jsonrpc":"2.0","id":"client-1","method":"tools/list"}`)
	m, _ := codec.Parse(frame, codec.ScanOptions{})
	fmt.Printf("%s\n", codec.AppendSplice(nil, frame, codec.Edit{Span: m.Envelope.RawID, Text: []byte("42")}))
	// Output: {"jsonrpc":"2.0","id":42,"method":"tools/list"}
}

func ExampleSpliceInPlace() {
	r := codec.NewReader(strings.NewReader(`{"jsonrpc":"2.0","id":"client-1","method":"tools/list"}`+"\n"), codec.ReaderOptions{})
	var m codec.Message
	_ = r.ReadMessage(&m)
	if codec.SpliceInPlace(&m, m.Envelope.RawID, []byte("42")) {
		fmt.Printf("%s %v\n", m.Frame(), m.ID())
	}
	// Output: {"jsonrpc":"2.0","id":42,"method":"tools/list"} 42
}

func ExampleEncodeValue() {
	b, err := codec.EncodeValue(map[string]any{"name": "<echo>", "limit": 3})
	if err != nil {
		panic(err)
	}
	defer codec.PutValue(b)
	fmt.Println(b)

	var v struct{ Name string }
	fmt.Println(codec.DecodeValue(b.B, &v), v.Name)
	// Output:
	// {"limit":3,"name":"<echo>"}
	// <nil> <echo>
}
