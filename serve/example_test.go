package serve_test

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/correlator-go/correlator/mcp"
	"github.com/correlator-go/correlator/serve"
)

type greeting struct {
	Name string `json:"name"`
}

func greet(_ context.Context, _ *mcp.Request, in greeting) (string, error) {
	return "Hello, " + in.Name, nil
}

func exampleServer(o serve.Options) *serve.Server {
	d, err := mcp.NewServer(mcp.Description{
		Info:  mcp.Implementation{Name: "example", Version: "1.0.0"},
		Tools: []mcp.ServerTool{mcp.NewTool(mcp.Tool{Name: "greet"}, greet)},
	})
	if err != nil {
		panic(err)
	}
	s, err := serve.New(d, o)
	if err != nil {
		panic(err)
	}
	return s
}

const exampleCall = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"greet","arguments":{"name":"Ada"},"_meta":{` +
	`"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`

// A client in the same process; Server.Stdio serves one that started this process.
func Example() {
	s := exampleServer(serve.Options{})
	defer s.Close()
	client := s.InProcess(context.Background())
	fmt.Fprintln(client, exampleCall)
	answer, _ := bufio.NewReader(client).ReadString('\n')
	fmt.Println(strings.Contains(answer, `"text":"Hello, Ada"`))
	// Output: true
}

// The same server over Streamable HTTP.
func ExampleServer_HTTP() {
	s := exampleServer(serve.Options{})
	defer s.Close()
	endpoint, err := s.HTTP(serve.HTTPOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	web := httptest.NewServer(endpoint)
	defer web.Close()

	r, _ := http.NewRequest(http.MethodPost, web.URL, strings.NewReader(exampleCall))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("MCP-Protocol-Version", "2026-07-28")
	r.Header.Set("Mcp-Method", "tools/call")
	r.Header.Set("Mcp-Name", "greet")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer answer.Body.Close()
	fmt.Println(answer.Status, answer.Header.Get("Content-Type"))
	// Output: 200 OK application/json
}

// Events are for metrics and traces.
func ExampleOptions_observer() {
	seen := make(chan serve.Event, 16)
	s := exampleServer(serve.Options{Observer: func(e serve.Event) { seen <- e }})
	defer s.Close()
	client := s.InProcess(context.Background())
	defer client.Close()
	fmt.Fprintln(client, exampleCall)
	for e := range seen {
		fmt.Println(e.Kind)
		if e.Kind == serve.ExchangeEnded {
			break
		}
	}
	// Output:
	// request.admitted
	// invocation.started
	// invocation.completed
	// exchange.closed
}
