package node_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/gateway/node"
)

// echoed is the answer of a server of plain JSON-RPC: the params are the result.
func echoed(request []byte) []byte {
	m, err := codec.Parse(request, codec.ScanOptions{Profile: codec.JSONRPC})
	if err != nil || m.Kind != codec.KindRequest {
		return nil
	}
	return codec.AppendResult(nil, m.RawID(), m.Params())
}

// A file alone puts plain JSON-RPC before a server that speaks it, over every kind of way
// on either side: ids come back as they were written, fractions too.
func TestPlainByFile(t *testing.T) {
	sockets, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { _ = sockets.Close() }()
	go func() {
		for {
			c, err := sockets.Accept()
			if err != nil {
				return
			}
			go func() {
				defer func() { _ = c.Close() }()
				lines := bufio.NewReader(c)
				for {
					line, err := lines.ReadBytes('\n')
					if err != nil {
						return
					}
					_, _ = c.Write(append(echoed(line), '\n'))
				}
			}()
		}
	}()
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(echoed(body))
	}))
	defer web.Close()
	for name, upstream := range map[string]string{"a socket": "tcp://" + sockets.Addr().String(), "http": web.URL} {
		t.Run(name, func(t *testing.T) {
			ready := make(chan node.Ready, 1)
			n, err := node.New(parse(t, fmt.Sprintf(`
upstreams:
  calculator: {url: %q, protocol: jsonrpc, isolation: shared}
listen:
  - {address: "http://127.0.0.1:0/rpc", protocol: jsonrpc}
  - tcp://127.0.0.1:0
  - "unix:%s"
`, upstream, filepath.ToSlash(filepath.Join(t.TempDir(), "s")))), node.Options{Ready: func(r node.Ready) { ready <- r }})
			require.NoError(t, err)
			at := run(t, n, ready)
			for _, id := range []string{`1.0`, `1.5`, `7`, `"x"`, `null`} {
				request := `{"jsonrpc":"2.0","id":` + id + `,"method":"add","params":[1.0,2]}`
				want := `{"jsonrpc":"2.0","id":` + id + `,"result":[1.0,2]}`
				r, err := http.Post(at.Clients[0], "application/json", strings.NewReader(request))
				require.NoError(t, err)
				body, err := io.ReadAll(r.Body)
				require.NoError(t, err)
				require.NoError(t, r.Body.Close())
				require.Equal(t, want, string(body))
				for _, address := range at.Clients[1:] {
					u, err := url.Parse(address)
					require.NoError(t, err)
					c, err := net.Dial(u.Scheme, u.Host+u.Path)
					require.NoError(t, err)
					require.NoError(t, c.SetDeadline(time.Now().Add(time.Minute)))
					_, err = c.Write([]byte(request + "\n"))
					require.NoError(t, err)
					line, err := bufio.NewReader(c).ReadString('\n')
					require.NoError(t, err)
					require.Equal(t, want+"\n", line)
					require.NoError(t, c.Close())
				}
			}
		})
	}
}
