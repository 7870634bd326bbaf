package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"os"
	"runtime/metrics"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/correlator-go/correlator/bench/claim"
	"github.com/correlator-go/correlator/conn"
	"github.com/correlator-go/correlator/mcp"
	"github.com/correlator-go/correlator/progress"
	"github.com/correlator-go/correlator/serve"
)

// toolsServer is a server with an echo, a tool that works until it is stopped, and
// the tool f, which may be nil.
func toolsServer(o serve.Options, f mcp.ToolHandler) (*serve.Server, error) {
	tool := func(name string, f mcp.ToolHandler) mcp.ServerTool {
		return mcp.ServerTool{Tool: mcp.Tool{Name: name, InputSchema: json.RawMessage(`{"type":"object"}`)}, Handle: f}
	}
	tools := []mcp.ServerTool{
		tool("echo", func(_ context.Context, r *mcp.Request) (*mcp.ToolResult, error) {
			return mcp.ToolText(string(r.Arguments())), nil
		}),
		tool("wait", func(ctx context.Context, _ *mcp.Request) (*mcp.ToolResult, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}),
	}
	if f != nil {
		tools = append(tools, tool("report", f))
	}
	o.Progress.MaxUpdates = math.MaxInt32
	d, err := mcp.NewServer(mcp.Description{Info: mcp.Implementation{Name: "bench", Version: "1"}, Tools: tools})
	if err != nil {
		return nil, err
	}
	return serve.New(d, o)
}

// toolCall is the frame of a tools/call of the modern era. meta is what is to be in
// _meta beside what has to be, with a comma before it.
func toolCall(id int, tool, arguments, meta string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":%s}`+"\n", id, toolParams(tool, arguments, meta))
}

func toolParams(tool, arguments, meta string) string {
	return fmt.Sprintf(`{"name":%q,"arguments":%s,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}%s}}`,
		tool, arguments, meta)
}

// deafStream asks once and then nothing, and takes all that is written.
type deafStream struct {
	request io.Reader
	closed  chan struct{}
	once    sync.Once
}

// Read gives the request, and then waits for Close.
func (d *deafStream) Read(p []byte) (int, error) {
	if n, _ := d.request.Read(p); n > 0 {
		return n, nil
	}
	<-d.closed
	return 0, io.EOF
}

// Write takes everything.
func (d *deafStream) Write(p []byte) (int, error) { return len(p), nil }

// Close ends Read.
func (d *deafStream) Close() error {
	d.once.Do(func() { close(d.closed) })
	return nil
}

// switches is how often goroutines of this process began to run so far, as the
// runtime samples it: one transition of eight, for each goroutine.
func switches() uint64 {
	const sampled = 8
	s := []metrics.Sample{{Name: "/sched/latencies:seconds"}}
	metrics.Read(s)
	n := uint64(0)
	for _, count := range s[0].Value.Float64Histogram().Counts {
		n += count
	}
	return sampled * n
}

// reportRole measures reports of one handler, each acknowledged before the next,
// on a stream that takes all at once: how often goroutines park and are woken for
// each ("parks"), and the time it takes ("ns").
func reportRole([]string) (claim.Values, error) {
	n := max(2000, int(200_000*pace))
	v := claim.Values{}
	ended := make(chan error, 1)
	s, err := toolsServer(serve.Options{Timeout: serve.NoTimeout}, func(ctx context.Context, r *mcp.Request) (*mcp.ToolResult, error) {
		value := 0.0
		report := func(times int) error {
			for range times {
				value++
				if err := r.Report(ctx, mcp.Progress{Value: value}); err != nil {
					return err
				}
			}
			return nil
		}
		err := report(n / 10)
		before, began := switches(), time.Now()
		err = errors.Join(err, report(n))
		v["ns"] = float64(time.Since(began)) / float64(n)
		v["parks"] = float64(switches()-before) / float64(n)
		ended <- err
		return mcp.ToolText("done"), nil
	})
	if err != nil {
		return nil, err
	}
	defer s.Close()
	stream := &deafStream{closed: make(chan struct{}), request: strings.NewReader(toolCall(1, "report", "{}", `,"progressToken":1`))}
	served := make(chan error, 1)
	go func() { served <- s.Serve(background, stream) }()
	err = <-ended
	return v, errors.Join(err, stream.Close(), <-served)
}

// neighbourTime is how long callers are measured, after half of it.
const neighbourTime = 600 * time.Millisecond

// neighboursRole measures 64 callers of the server that listens on the unix socket
// which is its argument.
func neighboursRole(args []string) (claim.Values, error) {
	if len(args) != 1 {
		return nil, fmt.Errorf("bad arguments: %q", args)
	}
	const callers = 64
	c, err := conn.Dial(background, "unix", args[0], conn.Options{})
	if err != nil {
		return nil, err
	}
	defer c.Close()
	var (
		wg     sync.WaitGroup
		began  = time.Now()
		warm   = began.Add(max(50*time.Millisecond, time.Duration(float64(neighbourTime/2)*pace)))
		until  = warm.Add(max(100*time.Millisecond, time.Duration(float64(neighbourTime)*pace)))
		took   [callers][]float64
		failed [callers]error
		params = []byte(toolParams("echo", `{"text":"0123456789"}`, ""))
	)
	for i := range callers {
		wg.Go(func() {
			// On a machine that has no time for it, one call each is late rather than none.
			for began := time.Now(); began.Before(until) || len(took[i]) == 0; {
				if _, failed[i] = c.Call(background, "tools/call", params, conn.CallOptions{Timeout: timeout}); failed[i] != nil {
					return
				}
				now := time.Now()
				if began.After(warm) {
					took[i] = append(took[i], float64(now.Sub(began)))
				}
				began = now
			}
		})
	}
	wg.Wait()
	all := slices.Concat(took[:]...)
	if err := errors.Join(failed[:]...); err != nil || len(all) == 0 {
		return nil, errors.Join(err, errors.New("no calls"))
	}
	slices.Sort(all)
	return claim.Values{"p99": all[len(all)*99/100], "calls/s": float64(len(all)) / until.Sub(warm).Seconds()}, nil
}

// toolsRole serves tools on a unix socket and over HTTP, and prints where, until
// its standard input ends.
func toolsRole([]string) (claim.Values, error) {
	return nil, serveTools(os.Stdin, os.Stdout)
}

func serveTools(in io.Reader, out io.Writer) error {
	// Long reports fill what the kernel keeps for a reader soon, so that it is the
	// slow reader that is measured and not the work of filling it.
	const long = 64 << 10
	message := strings.Repeat("x", long)
	s, err := toolsServer(serve.Options{Progress: progress.Limits{MaxMessageBytes: long}}, func(ctx context.Context, r *mcp.Request) (*mcp.ToolResult, error) {
		for i := 1.0; ; i++ {
			if err := r.Report(ctx, mcp.Progress{Value: i, Message: message}); err != nil {
				return nil, err
			}
		}
	})
	if err != nil {
		return err
	}
	defer s.Close()
	dir, err := os.MkdirTemp("", "tools")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	stream, err := net.Listen("unix", dir+"/s")
	if err != nil {
		return err
	}
	defer stream.Close()
	go func() { _ = s.Listen(background, stream) }()
	address, stop, err := serveWeb(s)
	if err != nil {
		return err
	}
	defer stop()
	if _, err := fmt.Fprintf(out, "%s,%s\n", stream.Addr(), address); err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, in)
	return err
}
