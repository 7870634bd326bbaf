package interop

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/conn"
)

// spiked lets a real server's frames through and puts lines of its own between
// them, so that the connection meets odd frames amid a real conversation.
type spiked struct {
	pipe
	mu  sync.Mutex // a line is written whole
	out *io.PipeWriter
}

// spike gives the connection's end of a stream to the server.
func spike(t *testing.T, server pipe) *spiked {
	t.Helper()
	r, w := io.Pipe()
	s := &spiked{pipe: pipe{r, server.WriteCloser}, out: w}
	done := make(chan struct{})
	go func() {
		defer close(done)
		lines := bufio.NewReader(server.ReadCloser)
		for {
			line, err := lines.ReadString('\n')
			s.put(line)
			if err != nil {
				_ = w.CloseWithError(err)
				return
			}
		}
	}()
	t.Cleanup(func() {
		_ = s.Close()
		_ = server.Close()
		<-done
	})
	return s
}

func (s *spiked) put(line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, _ = io.WriteString(s.out, line)
}

// Every odd frame that real clients were seen to die of, hang on or ignore:
// beside it every other call completes and the link stays up.
func TestGoSDKServerWithOddFramesBetween(t *testing.T) {
	for name, odd := range map[string]struct {
		line string
		how  conn.StrayReason // it is told to OnStray; 0 if it is none
	}{
		"error without id":         {`{"jsonrpc":"2.0","error":{"code":-32600,"message":"x"}}`, conn.StrayNoID},
		"error with null id":       {`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"x"}}`, conn.StrayNoID},
		"broken JSON":              {`{"jsonrpc":"2.0","id":1,"result":{`, conn.StrayUnreadable},
		"banner":                   {`Server started on stdio`, conn.StrayUnreadable},
		"byte order mark":          {"\xef\xbb\xbf" + `{"jsonrpc":"2.0","method":"notifications/x"}`, 0},
		"not UTF-8":                {"\xff\xfe", conn.StrayUnreadable},
		"blank":                    {``, 0},
		"unknown id":               {`{"jsonrpc":"2.0","id":4503599627370495,"result":{}}`, conn.StrayUnmatched},
		"answered before":          {`{"jsonrpc":"2.0","id":FIRST,"result":{}}`, conn.StrayUnmatched},
		"answered before, as text": {`{"jsonrpc":"2.0","id":"FIRST","result":{}}`, conn.StrayUnmatched},
		"id as a fraction":         {`{"jsonrpc":"2.0","id":3.0,"result":{}}`, conn.StrayUnreadable},
		"id as true":               {`{"jsonrpc":"2.0","id":true,"result":{}}`, conn.StrayUnreadable},
		"neither result nor error": {`{"jsonrpc":"2.0","id":4503599627370494}`, conn.StrayUnreadable},
		"both result and error":    {`{"jsonrpc":"2.0","id":4503599627370494,"result":{},"error":{"code":1,"message":"x"}}`, conn.StrayUnmatched},
		"batch":                    {`[{"jsonrpc":"2.0","id":4503599627370494,"result":{}}]`, conn.StrayBatch},
		"falling progress":         {`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"t","progress":-1}}`, conn.StrayProgress},
		"request of the server":    {`{"jsonrpc":"2.0","id":7,"method":"ping"}`, 0},
		"unknown request":          {`{"jsonrpc":"2.0","id":8,"method":"sampling/createMessage","params":{}}`, 0},
		"wrong version":            {`{"jsonrpc":"1.0","method":"x"}`, conn.StrayUnreadable},
		"two on one line":          {`{"jsonrpc":"2.0","method":"a"}{"jsonrpc":"2.0","method":"b"}`, conn.StrayUnreadable},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorkshop()
			link := spike(t, w.serve(t))
			var strays, others atomic.Int32
			c, err := conn.New(link, conn.Options{OnStray: func(s conn.Stray) {
				if s.Reason == odd.how {
					strays.Add(1)
				} else {
					others.Add(1)
				}
			}})
			require.NoError(t, err)
			t.Cleanup(func() { _ = c.Close() })
			initialize(t, c)
			line := strings.ReplaceAll(odd.line, "FIRST", first(t, c))
			var wg sync.WaitGroup
			for i := range 20 {
				wg.Go(func() {
					link.put(line + "\n")
					got, err := tool(t, c, "double", numbered{N: i}, conn.CallOptions{})
					if err != nil || got != fmt.Sprint(2*i) {
						t.Errorf("call %d: %q, %v", i, got, err)
					}
					link.put(line + "\n")
				})
			}
			wg.Wait()
			if odd.how != 0 {
				// The last line may still be on its way.
				_, err := tool(t, c, "double", numbered{}, conn.CallOptions{})
				require.NoError(t, err)
				require.EqualValues(t, 40, strays.Load())
			}
			require.Zero(t, others.Load())
			require.NoError(t, c.Err())
			require.Zero(t, c.Stats().Calls.Pending)
		})
	}
}

// first is an id that was answered on c.
func first(t *testing.T, c *conn.Conn) string {
	t.Helper()
	answered := make(chan conn.Outcome, 1)
	id, err := c.Start(t.Context(), "tools/list", nil, conn.CallOptions{}, func(o conn.Outcome) { answered <- o })
	require.NoError(t, err)
	require.NoError(t, (<-answered).Err)
	n, ok := id.Int()
	require.True(t, ok)
	return strconv.FormatInt(n, 10)
}
