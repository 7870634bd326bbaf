package codec_test

import (
	"errors"
	"fmt"

	"github.com/correlator-go/correlator/codec"
)

func ExampleScan() {
	frame := []byte(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"echo","_meta":{"progressToken":"t7"}}}`)
	var e codec.Envelope
	if err := codec.Scan(frame, &e, codec.ScanOptions{}); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(e.Kind, e.IntID)
	fmt.Printf("%s\n%s\n", e.Method.Of(frame), e.Token.Of(frame))
	// Output:
	// request 7
	// tools/call
	// "t7"
}

func ExampleScan_refused() {
	frame := []byte(`{"jsonrpc":"2.0","id":7,"method":"ping","method":"shutdown"}`)
	var e codec.Envelope
	err := codec.Scan(frame, &e, codec.ScanOptions{})
	if bad, ok := errors.AsType[*codec.SyntaxError](err); ok {
		fmt.Println(bad.Code, bad)
		fmt.Printf("answer to id %s\n", e.RawID.Of(frame))
	}
	fmt.Println(errors.Is(err, codec.ErrDuplicateMember))
	// Output:
	// -32600 codec: duplicate member at byte 40
	// answer to id 7
	// true
}

func ExampleParse() {
	m, err := codec.Parse([]byte(`{"jsonrpc":"2.0","id":"a","error":"bad cursor"}`), codec.ScanOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(m.Kind, m.ID(), m.Err())
	// Output: error "a" bad cursor
}

func ExampleSplitBatch() {
	batch := []byte(`[{"jsonrpc":"2.0","method":"a"}, 1, {"jsonrpc":"2.0","method":"b"}]`)
	for element, err := range codec.SplitBatch(batch, codec.ScanOptions{Profile: codec.JSONRPC}) {
		fmt.Printf("%s %v\n", element, err)
	}
	// Output:
	// {"jsonrpc":"2.0","method":"a"} <nil>
	// 1 codec: batch element is not an object at byte 33
	// {"jsonrpc":"2.0","method":"b"} <nil>
}

func ExamplePeekID() {
	id, ok := codec.PeekID([]byte(`{"jsonrpc":"2.0","id":41,"result":{"blob":"AAAAAAAA`), codec.MCP)
	fmt.Println(id, ok)
	// Output: 41 true
}

func ExampleID() {
	number, _ := codec.ParseID([]byte(`1`), codec.MCP)
	text, _ := codec.ParseID([]byte(`"1"`), codec.MCP)
	escaped, _ := codec.ParseID([]byte(`"\u0031"`), codec.MCP)
	fmt.Println(number == text, text == escaped, number == codec.IntID(1))
	// Output: false true true
}

func ExampleErrorFailure() {
	message, category, object, ok := codec.ErrorFailure([]byte(`{"id":1,"error":{"code":-32602,"message":"bad cursor"}}`))
	fmt.Println(message, category, ok)
	fmt.Printf("%s\n", object)
	// Output:
	// MCP error -32602: bad cursor mcp true
	// {"code":-32602,"message":"bad cursor"}
}

func ExampleErrorText() {
	fmt.Println(codec.ErrorText([]byte(`"bad cursor"`)))
	fmt.Println(codec.ErrorText([]byte(`["bad","cursor"]`)))
	fmt.Println(codec.ErrorText(nil))
	// Output:
	// bad cursor
	// ["bad","cursor"]
	// unknown error
}

func ExampleError_Is() {
	err := error(codec.ReadError([]byte(`{"code":-32601,"message":"no such method"}`)))
	fmt.Println(errors.Is(err, &codec.Error{Code: codec.CodeMethodNotFound}))
	// Output: true
}

func ExampleAppendCompact() {
	frame := []byte("{\n  \"jsonrpc\": \"2.0\",\n  \"method\": \"a b\"\n}\n")
	fmt.Printf("%s\n", codec.AppendCompact(nil, frame))
	// Output: {"jsonrpc":"2.0","method":"a b"}
}
