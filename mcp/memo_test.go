package mcp_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/mcp"
)

// A connection that knows its client's _meta already judges a request as one does
// that never heard of it, whatever differs from the _meta before.
func TestKnownMetaChangesNothing(t *testing.T) {
	server, random := newServer(t), rand.New(rand.NewPCG(3, 4))
	one := func(options ...string) string { return options[random.IntN(len(options))] }
	shared := mcp.Init(server, mcp.Options{})
	const prefix = "io.modelcontextprotocol/"
	var last string
	for id := mcp.ExchangeID(1); id <= 4_000; id++ {
		frame := last
		if random.IntN(3) > 0 {
			token := one("", "", `"progressToken":1,`, `"progressToken":22,`, `"progressToken":"a\"b",`, `"progressToken":null,`, `"progressToken":{"progressToken":1},`)
			late := ""
			if random.IntN(2) == 0 && token != "" {
				token, late = "", ","+token[:len(token)-1]
			}
			frame = fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo",%s"_meta":{%s"%sprotocolVersion":"%s",%s"%sclientCapabilities":%s%s%s%s},"arguments":{"text":"x"}}}`,
				one("", "", `"x":[{"_meta":{}}],`), token, prefix, one("2026-07-28", "2026-07-28", "2026-07-28", "2025-11-25"),
				one("", `"`+prefix+`clientInfo":{"name":"c","version":"1"},`, `"`+prefix+`clientInfo":{"name":"c"},`),
				prefix, one("{}", `{"sampling":{}}`), one("", `,"`+prefix+`logLevel":"info"`, `,"traceparent":"x"`), late, one("", " "))
			last = frame
		}
		got := mcp.Step(shared, mcp.Received{Exchange: id, Frame: []byte(frame)}, nil)
		want := mcp.Step(mcp.Init(server, mcp.Options{}), mcp.Received{Exchange: id, Frame: []byte(frame)}, nil)
		require.Equal(t, plain(want), plain(got), frame)
		if got[0].Kind == mcp.Admitted {
			v, w := got[1].Run, want[1].Run
			require.Equal(t, w.ProgressToken(), v.ProgressToken(), frame)
			require.Equal(t, w.ClientCapabilities(), v.ClientCapabilities(), frame)
			require.Equal(t, w.LogLevel(), v.LogLevel())
			require.Equal(t, string(w.Params()), string(v.Params()))
			require.Equal(t, string(w.Arguments()), string(v.Arguments()))
			require.Equal(t, w.Name(), v.Name())
			require.Equal(t, w.RequestID(), v.RequestID())
			a, said := v.ClientInfo()
			b, alsoSaid := w.ClientInfo()
			require.Equal(t, b, a, frame)
			require.Equal(t, alsoSaid, said)
		}
		mcp.Step(shared, mcp.ExchangeClosed{Exchange: id}, nil)
	}
}
