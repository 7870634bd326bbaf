package creachadair

import (
	"io"

	"github.com/creachadair/jrpc2/channel"

	"github.com/correlator-go/correlator/adapters/jsonrpc2/internal/link"
	"github.com/correlator-go/correlator/codec"
)

// Stream is a channel of the library of which the bytes and their framing are
// known.
type Stream struct {
	channel.Channel
	bytes  io.ReadWriteCloser
	framer codec.Framer
}

var (
	_ channel.Framing = Line
	_ channel.Framing = LSP
	_ channel.Framing = RawJSON
)

// Line is channel.Line: a message a line.
func Line(r io.Reader, wc io.WriteCloser) channel.Channel {
	return &Stream{channel.Line(r, wc), link.Join(r, wc), codec.LineFramer{}}
}

// LSP is channel.LSP: headers with the Content-Type of the Language Server
// Protocol. The type of what comes in is not looked at.
func LSP(r io.Reader, wc io.WriteCloser) channel.Channel {
	return &Stream{channel.LSP(r, wc), link.Join(r, wc), link.Typed{Type: "application/vscode-jsonrpc; charset=utf-8"}}
}

// Header is channel.Header and channel.StrictHeader: headers with a Content-Type,
// or without one if mimeType is empty. The type of what comes in is not looked at.
func Header(mimeType string) channel.Framing {
	theirs := channel.Header(mimeType)
	return func(r io.Reader, wc io.WriteCloser) channel.Channel {
		return &Stream{theirs(r, wc), link.Join(r, wc), link.Typed{Type: mimeType}}
	}
}

// RawJSON is channel.RawJSON: JSON texts behind each other. What is sent is a line.
func RawJSON(r io.Reader, wc io.WriteCloser) channel.Channel {
	return &Stream{channel.RawJSON(r, wc), link.Join(r, wc), new(link.Values)}
}

// open gives the bytes of a channel and their framing.
func open(ch channel.Channel) (io.ReadWriteCloser, codec.Framer) {
	if own, ok := ch.(*Stream); ok {
		return own.bytes, own.framer
	}
	return link.Carry(ch), codec.LineFramer{}
}
