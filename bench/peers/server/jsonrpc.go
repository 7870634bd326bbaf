package server

import (
	"bytes"
	"fmt"
	"io"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/internal/echo"
)

// Tool is the only tool of the MCP server, Method what others call. Stuck is the
// tool and the method that a Dropping server never answers.
const (
	Tool   = "echo"
	Method = "echo"
	Stuck  = "stuck"
)

// lines answers JSON-RPC 2.0 in lines with the params.
func lines(c io.ReadWriteCloser) error { return echo.Serve(c, echo.Options{}) }

// mcp answers what MCP clients ask before they call a tool, and calls of [Tool]
// with the argument "message" as text.
func mcp(c io.ReadWriteCloser) error {
	var quoted []byte
	return burst(c, func(in, out []byte) (int, []byte, error) {
		text, taken := line(in)
		if taken == 0 {
			return 0, out, nil
		}
		m, err := codec.Parse(text, codec.ScanOptions{TrustBody: true})
		if err != nil {
			return 0, nil, fmt.Errorf("server: mcp: %w in %.200q", err, text)
		}
		if m.Kind != codec.KindRequest {
			return taken, out, nil
		}
		switch string(m.Method()) {
		case "tools/call":
			quoted = append(append(append(quoted[:0], `{"content":[{"type":"text","text":`...), message(m.Params())...), `}]}`...)
			out = codec.AppendResult(out, m.RawID(), quoted)
		case "initialize":
			out = codec.AppendResult(out, m.RawID(), []byte(`{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"echo","version":"1"}}`))
		case "ping":
			out = codec.AppendResult(out, m.RawID(), []byte("{}"))
		case "tools/list":
			out = codec.AppendResult(out, m.RawID(), []byte(`{"tools":[{"name":"echo","inputSchema":{"type":"object"}}]}`))
		default:
			out = codec.AppendError(out, m.RawID(), &codec.Error{Code: codec.CodeMethodNotFound, Message: "no such method"})
		}
		return taken, append(out, '\n'), nil
	})
}

// message is the text of the string behind "message": in params, with its quotes.
// Payloads hold no quotes of their own.
func message(params []byte) []byte {
	_, text, ok := bytes.Cut(params, []byte(`"message":"`))
	end := bytes.IndexByte(text, '"')
	if !ok || end < 0 {
		return []byte(`""`)
	}
	start := len(params) - len(text) - 1
	return params[start : start+end+2]
}

// rpc1 answers JSON-RPC 1.0 as package net/rpc/jsonrpc writes it.
func rpc1(c io.ReadWriteCloser) error {
	return burst(c, func(in, out []byte) (int, []byte, error) {
		text, taken := line(in)
		if taken == 0 {
			return 0, out, nil
		}
		_, rest, ok := bytes.Cut(text, []byte(`"params":[`))
		end := bytes.LastIndex(rest, []byte(`],"id":`))
		if !ok || end < 0 || rest[len(rest)-1] != '}' {
			return 0, nil, fmt.Errorf("server: no call of net/rpc/jsonrpc: %.200q", text)
		}
		id := rest[end+len(`],"id":`) : len(rest)-1]
		out = append(append(append(out, `{"id":`...), id...), `,"result":`...)
		out = append(append(out, rest[:end]...), `,"error":null}`+"\n"...)
		return taken, out, nil
	})
}
