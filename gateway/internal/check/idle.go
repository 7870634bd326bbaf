package main

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"
)

// idlers are clients that have said hello and say nothing more.
type idlers struct{ conns []net.Conn }

func (c *idlers) leave() {
	for _, one := range c.conns {
		_ = one.Close()
	}
}

// idleKind is one way for clients to come.
type idleKind struct {
	name string
	// socket is what is behind the name of the gateway's.
	socket string
	greet  func(net.Conn) error
}

// idleKinds are plain, so that ten thousand of them cost this process little: what is
// measured is the other side.
var idleKinds = []idleKind{
	{"a unix socket", "", greetLines},
	{"a WebSocket", webSocket, greetWebSocket},
	{"HTTP, with an open event stream", webSocket, greetHTTP},
}

// webSocket is behind the name of the gateway's socket where it serves HTTP.
const webSocket = ".http"

// opening is the first message of a client.
var opening = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":` + string(hello) + `}`

const opened = `{"jsonrpc":"2.0","method":"notifications/initialized"}`

// rest opens n clients of a kind, which then do nothing.
func rest(socket string, kind idleKind, n int) (*idlers, error) {
	all := new(idlers)
	for range n {
		one, err := net.Dial("unix", socket+kind.socket)
		if err != nil {
			return all, err
		}
		all.conns = append(all.conns, one)
		if err := one.SetDeadline(time.Now().Add(callTimeout)); err != nil {
			return all, err
		}
		if err := kind.greet(one); err != nil {
			return all, fmt.Errorf("a client of %s: %w", kind.name, err)
		}
		if err := one.SetDeadline(time.Time{}); err != nil {
			return all, err
		}
	}
	return all, nil
}

func greetLines(c net.Conn) error {
	if _, err := io.WriteString(c, opening+"\n"); err != nil {
		return err
	}
	if _, err := bufio.NewReader(c).ReadString('\n'); err != nil {
		return err
	}
	_, err := io.WriteString(c, opened+"\n")
	return err
}

// textFrame is a whole text message as clients send it, under a mask that changes
// nothing.
func textFrame(message string) []byte {
	frame := binary.BigEndian.AppendUint16([]byte{0x81, 0x80 | 126}, uint16(len(message)))
	return append(append(frame, 0, 0, 0, 0), message...)
}

func greetWebSocket(c net.Conn) error {
	const upgrade = "GET /mcp HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n" +
		"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
	if _, err := io.WriteString(c, upgrade); err != nil {
		return err
	}
	in := bufio.NewReader(c)
	if err := status(in, http.StatusSwitchingProtocols); err != nil {
		return err
	}
	if _, err := c.Write(textFrame(opening)); err != nil {
		return err
	}
	var head [4]byte
	if _, err := io.ReadFull(in, head[:2]); err != nil {
		return err
	}
	size := int64(head[1])
	if size == 126 {
		if _, err := io.ReadFull(in, head[2:]); err != nil {
			return err
		}
		size = int64(binary.BigEndian.Uint16(head[2:]))
	}
	if _, err := io.CopyN(io.Discard, in, size); err != nil {
		return err
	}
	_, err := c.Write(textFrame(opened))
	return err
}

func greetHTTP(c net.Conn) error {
	in := bufio.NewReader(c)
	post := func(session, message string, want int) (*http.Response, error) {
		head := "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"
		if session != "" {
			head += "Mcp-Session-Id: " + session + "\r\n"
		}
		if _, err := fmt.Fprintf(c, "%sContent-Length: %d\r\n\r\n%s", head, len(message), message); err != nil {
			return nil, err
		}
		return response(in, want)
	}
	r, err := post("", opening, http.StatusOK)
	if err != nil {
		return err
	}
	session := r.Header.Get("Mcp-Session-Id")
	if _, err := post(session, opened, http.StatusAccepted); err != nil {
		return err
	}
	if _, err := io.WriteString(c, "GET /mcp HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\nMcp-Session-Id: "+session+"\r\n\r\n"); err != nil {
		return err
	}
	return status(in, http.StatusOK)
}

// response reads an answer and all that is in it.
func response(in *bufio.Reader, want int) (*http.Response, error) {
	r, err := http.ReadResponse(in, nil)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(r.Body)
	_ = r.Body.Close()
	if err == nil && r.StatusCode != want {
		err = fmt.Errorf("%w: %s: %s", errStatus, r.Status, strings.TrimSpace(string(text)))
	}
	return r, err
}

// status reads the head of an answer whose rest goes on.
func status(in *bufio.Reader, want int) error {
	r, err := http.ReadResponse(in, nil)
	if err == nil && r.StatusCode != want {
		err = fmt.Errorf("%w: %s", errStatus, r.Status)
	}
	return err
}
