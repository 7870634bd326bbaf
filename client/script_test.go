package client_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/client"
	"github.com/correlator-go/correlator/mcp"
)

// message is what a scripted server reads of a frame.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
}

// script answers a message with lines; ID in a line stands for the message's id.
type script func(m message) []string

const discovered = `{"jsonrpc":"2.0","id":ID,"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},` +
	`"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"scripted","version":"1"}}}}`

const initialized = `{"jsonrpc":"2.0","id":ID,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"scripted","version":"1"}}}`

// modern is a script that answers server/discover, and everything else with f.
func modern(f script) script {
	return func(m message) []string {
		if m.Method == mcp.MethodDiscover {
			return []string{discovered}
		}
		return f(m)
	}
}

// older is a script that answers initialize, and everything else with f.
func older(f script) script {
	return func(m message) []string {
		switch m.Method {
		case mcp.MethodDiscover:
			return []string{`{"jsonrpc":"2.0","id":ID,"error":{"code":-32601,"message":"method not found"}}`}
		case mcp.MethodInitialize:
			return []string{initialized}
		case mcp.NoteInitialized:
			return nil
		}
		return f(m)
	}
}

func (s script) lines(m message) []string {
	lines := s(m)
	for i := range lines {
		lines[i] = strings.ReplaceAll(lines[i], "ID", string(m.ID))
	}
	return lines
}

// serve answers the lines of one client until it leaves.
func (s script) serve(far io.ReadWriter) {
	r := bufio.NewReader(far)
	for {
		line, err := r.ReadBytes('\n')
		if err != nil {
			return
		}
		var m message
		if json.Unmarshal(line, &m) != nil {
			continue
		}
		if lines := s.lines(m); len(lines) > 0 {
			if _, err := io.WriteString(far, strings.Join(lines, "\n")+"\n"); err != nil {
				return
			}
		}
	}
}

// scriptedStream is a server in this process, behind a stream.
func scriptedStream(t *testing.T, s script) client.Transport {
	near, far := net.Pipe()
	t.Cleanup(func() { _ = far.Close() })
	go s.serve(far)
	return client.Stream(near)
}

// scriptedChild is a server behind the standard input and output of a child.
func scriptedChild(t *testing.T, s script) client.Transport {
	l := listen(t)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				s.serve(c)
			}()
		}
	}()
	return child(t, l)
}

// scriptedHTTP is a server behind an endpoint: one line is the JSON body, more are
// events.
func scriptedHTTP(t *testing.T, s script) client.Transport {
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		var m message
		if json.NewDecoder(r.Body).Decode(&m) != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		switch lines := s.lines(m); {
		case len(lines) == 0:
			w.WriteHeader(http.StatusAccepted)
		case len(lines) == 1:
			w.Header().Set("Content-Type", "application/json; charset=utf-8")
			_, _ = io.WriteString(w, lines[0])
		default:
			w.Header().Set("Content-Type", "text/event-stream")
			for _, l := range lines {
				_, _ = fmt.Fprintf(w, "event: message\ndata: %s\n\n", l)
			}
		}
	}))
	t.Cleanup(web.Close)
	return client.HTTP{Endpoint: web.URL}
}

// scriptedWays are the kinds of way to a scripted server.
var scriptedWays = []struct {
	name string
	open func(*testing.T, script) client.Transport
}{{"in process", scriptedStream}, {"stdio", scriptedChild}, {"HTTP", scriptedHTTP}}

// scripted runs f with a client of s, over each way and with eras of its own.
func scripted(t *testing.T, s script, o client.Options, f func(t *testing.T, c *client.Client)) {
	for _, w := range scriptedWays {
		t.Run(w.name, func(t *testing.T) {
			o := o
			o.Eras = &client.Eras{}
			c, err := client.Connect(t.Context(), w.open(t, s), o)
			require.NoError(t, err)
			defer c.Close()
			f(t, c)
		})
	}
}

// heard collects what a scripted server was sent.
type heard struct {
	mu       sync.Mutex
	messages []message
}

func (h *heard) add(m message) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.messages = append(h.messages, m)
}

func (h *heard) methods() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	var names []string
	for _, m := range h.messages {
		names = append(names, m.Method)
	}
	return names
}
