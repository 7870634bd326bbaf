package echo_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/internal/echo"
	"github.com/correlator-go/correlator/internal/invariants"
)

// answer is what a test reads of one message.
type answer struct {
	ID     json.RawMessage
	Method string
	Params json.RawMessage
	Result json.RawMessage
	Error  *struct{ Code int }
}

// exchange sends input in one write, ends the client's side once n messages have
// come back, and returns them with Serve's error.
func exchange(t *testing.T, o echo.Options, input string, n int) ([]answer, error) {
	t.Helper()
	client, server := echo.Pipe()
	served := make(chan error, 1)
	go func() { served <- echo.Serve(server, o) }()
	_, err := io.WriteString(client, input)
	require.NoError(t, err)
	var out []answer
	for d := json.NewDecoder(client); n < 0 || len(out) < n; {
		var a answer
		if err := d.Decode(&a); err != nil {
			require.ErrorIs(t, err, io.EOF)
			break
		}
		out = append(out, a)
	}
	require.NoError(t, client.Close())
	return out, <-served
}

func requests(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `{"jsonrpc":"2.0","id":%d,"method":"x","params":{"n":%d,"_meta":{"progressToken":"t%d"}}}`+"\n", i, i, i)
	}
	return b.String()
}

func TestServeEchoesInOrderAndInOneWrite(t *testing.T) {
	var c echo.Counters
	out, err := exchange(t, echo.Options{Counters: &c}, requests(100), 100)
	require.NoError(t, err)
	for i, a := range out {
		require.Equal(t, fmt.Sprint(i), string(a.ID))
		require.JSONEq(t, fmt.Sprintf(`{"n":%d,"_meta":{"progressToken":"t%d"}}`, i, i), string(a.Result))
	}
	n := c.Snapshot()
	require.EqualValues(t, 100, n.Requests)
	require.EqualValues(t, 100, n.Answers)
	require.EqualValues(t, len(requests(100)), n.BytesIn)
	require.LessOrEqual(t, n.Writes, int64(2), "a burst is one write")
}

func TestServeCountsWhatIsNoRequest(t *testing.T) {
	var c echo.Counters
	input := "banner\n" +
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}` + "\n" +
		`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n" +
		`[{"jsonrpc":"2.0","id":1,"method":"x"}]` + "\n" +
		`{"jsonrpc":"2.0","id":"a","method":"x"}` + "\n"
	out, err := exchange(t, echo.Options{Counters: &c}, input, 1)
	require.NoError(t, err)
	require.Equal(t, `"a"`, string(out[0].ID))
	require.Equal(t, "null", string(out[0].Result))
	n := c.Snapshot()
	require.EqualValues(t, 2, n.Notifications)
	require.EqualValues(t, 1, n.Cancels)
	require.EqualValues(t, 2, n.Unreadable)
	require.EqualValues(t, 1, n.Requests)
}

func TestServeReportsItsCounters(t *testing.T) {
	for name, shape := range map[string]echo.Shape{"plain": {}, "shaped": {Reorder: 2}} {
		t.Run(name, func(t *testing.T) {
			input := requests(3) + `{"jsonrpc":"2.0","id":9,"method":"echo/counters"}` + "\n"
			out, err := exchange(t, echo.Options{Shape: shape}, input, 4)
			require.NoError(t, err)
			for _, a := range out {
				if string(a.ID) == "9" {
					var n echo.Counts
					require.NoError(t, json.Unmarshal(a.Result, &n))
					require.EqualValues(t, 3, n.Requests)
					require.EqualValues(t, 1, n.Connections)
					return
				}
			}
			require.Fail(t, "no counters came")
		})
	}
}

func TestServeMCP(t *testing.T) {
	input := `{"jsonrpc":"2.0","id":1,"method":"server/discover"}` + "\n" +
		`{"jsonrpc":"2.0","id":2,"method":"initialize","params":{}}` + "\n" +
		`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"echo","arguments":{"message":"h\u00ef"}}}` + "\n" +
		`{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"nope"}}` + "\n" +
		`{"jsonrpc":"2.0","id":5,"method":"ping"}` + "\n" +
		`{"jsonrpc":"2.0","id":6,"method":"tools/list"}` + "\n" +
		`{"jsonrpc":"2.0","id":7,"method":"what"}` + "\n"
	for _, discover := range []bool{false, true} {
		out, err := exchange(t, echo.Options{MCP: true, Discover: discover}, input, 7)
		require.NoError(t, err)
		require.Equal(t, discover, out[0].Error == nil)
		require.Contains(t, string(out[1].Result), `"protocolVersion":"2025-11-25"`)
		require.Contains(t, string(out[2].Result), `"text":"Echo: hï"`)
		require.Equal(t, -32602, out[3].Error.Code)
		require.Equal(t, "{}", string(out[4].Result))
		require.Contains(t, string(out[5].Result), `"name":"echo"`)
		require.Equal(t, -32601, out[6].Error.Code)
	}
}

func TestServeShapes(t *testing.T) {
	for _, test := range []struct {
		name  string
		shape echo.Shape
		check func(t *testing.T, n echo.Counts, elapsed time.Duration)
	}{
		{"delay", echo.Shape{Delay: echo.Delay{Distribution: echo.Constant, Scale: time.Second}}, func(t *testing.T, n echo.Counts, elapsed time.Duration) {
			require.EqualValues(t, 200, n.Answers)
			require.Equal(t, time.Second, elapsed)
		}},
		{"blackhole", echo.Shape{Blackhole: 0.5}, func(t *testing.T, n echo.Counts, _ time.Duration) {
			require.InDelta(t, 100, n.Blackholed, 30)
		}},
		{"late", echo.Shape{Late: 0.5, LateBy: time.Minute}, func(t *testing.T, n echo.Counts, elapsed time.Duration) {
			require.InDelta(t, 100, n.Late, 30)
			require.Equal(t, time.Minute, elapsed)
		}},
		{"dup", echo.Shape{Duplicate: 0.5}, func(t *testing.T, n echo.Counts, _ time.Duration) {
			require.InDelta(t, 100, n.Duplicates, 30)
		}},
		{"reorder", echo.Shape{Reorder: 64}, func(t *testing.T, n echo.Counts, elapsed time.Duration) {
			require.Equal(t, time.Millisecond, elapsed, "the last window is not full")
		}},
		{"progress", echo.Shape{Delay: echo.Delay{Distribution: echo.Constant, Scale: time.Second}, ProgressEvery: 300 * time.Millisecond},
			func(t *testing.T, n echo.Counts, _ time.Duration) { require.EqualValues(t, 3*200, n.Progress) }},
		{"stall", echo.Shape{StallFor: 3 * time.Second}, func(t *testing.T, n echo.Counts, elapsed time.Duration) {
			require.Equal(t, 3*time.Second, elapsed)
		}},
		{"die", echo.Shape{DieAfter: 150}, func(t *testing.T, n echo.Counts, _ time.Duration) {
			require.EqualValues(t, 150, n.Requests)
			require.EqualValues(t, 149, n.Answers)
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var c echo.Counters
				client, server := echo.Pipe()
				served := make(chan error, 1)
				begin := time.Now()
				go func() { served <- echo.Serve(server, echo.Options{Shape: test.shape, Seed: 42, Counters: &c}) }()
				var last time.Time
				var got int64
				read := make(chan struct{})
				go func() {
					defer close(read)
					for d := json.NewDecoder(client); ; got++ {
						var a answer
						if d.Decode(&a) != nil {
							return
						}
						last = time.Now()
					}
				}()
				_, err := io.WriteString(client, requests(200))
				require.NoError(t, err)
				<-time.After(2 * time.Minute)
				require.NoError(t, client.Close())
				err = <-served
				<-read
				if test.shape.DieAfter > 0 {
					require.ErrorIs(t, err, echo.ErrDied)
				} else {
					require.NoError(t, err)
				}
				n := c.Snapshot()
				require.Equal(t, n.Requests-n.Blackholed+n.Duplicates-n.Unsent, n.Answers)
				require.Zero(t, n.Held)
				require.Equal(t, n.Answers+n.Progress, got, "what the client read is what the server says it sent")
				test.check(t, n, last.Sub(begin))
			})
		})
	}
}

func TestServeReordersBySeed(t *testing.T) {
	order := func(seed uint64) (ids []string) {
		out, err := exchange(t, echo.Options{Shape: echo.Shape{Reorder: 50}, Seed: seed}, requests(50), 50)
		require.NoError(t, err)
		for _, a := range out {
			ids = append(ids, string(a.ID))
		}
		return ids
	}
	synctest.Test(t, func(t *testing.T) {
		first, again, other := order(1), order(1), order(2)
		require.Equal(t, first, again)
		require.NotEqual(t, first, other)
		require.ElementsMatch(t, first, other)
	})
}

// A burst of requests, over and over, on one connection.
func TestServeAllocatesNothingPerMessage(t *testing.T) {
	if invariants.Race || invariants.Enabled {
		t.Log("allocation gates hold for the plain build")
		return
	}
	client, server := echo.Pipe()
	served := make(chan error, 1)
	go func() { served <- echo.Serve(server, echo.Options{}) }()
	const burst = 200
	input := []byte(requests(burst))
	p := make([]byte, 64<<10)
	round := func() {
		_, err := client.Write(input)
		require.NoError(t, err)
		for lines := 0; lines < burst; {
			n, err := client.Read(p)
			require.NoError(t, err)
			lines += bytes.Count(p[:n], []byte{10})
		}
	}
	allocs := testing.AllocsPerRun(50, round)
	require.Less(t, allocs/burst, 0.1)
	require.NoError(t, client.Close())
	require.NoError(t, <-served)
}
