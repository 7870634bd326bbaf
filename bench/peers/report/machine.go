package report

import (
	"runtime/debug"
)

// contenders are the modules whose versions a report names.
var contenders = []string{
	"github.com/modelcontextprotocol/go-sdk", "github.com/mark3labs/mcp-go", "github.com/sourcegraph/jsonrpc2",
	"github.com/creachadair/jrpc2", "golang.org/x/exp/jsonrpc2", "github.com/ethereum/go-ethereum", "go.lsp.dev/jsonrpc2",
	"google.golang.org/grpc", "github.com/nats-io/nats.go", "github.com/redis/rueidis", "github.com/valyala/fasthttp",
	"github.com/buger/jsonparser", "github.com/go-json-experiment/json", "github.com/segmentio/encoding",
	"github.com/puzpuzpuz/xsync/v3", "github.com/puzpuzpuz/xsync/v4",
}

// versions reads the contenders' versions off the running program.
func versions() map[string]string {
	out := map[string]string{}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return out
	}
	for _, m := range info.Deps {
		for _, c := range contenders {
			if m.Path == c {
				out[c] = m.Version
			}
		}
	}
	return out
}
