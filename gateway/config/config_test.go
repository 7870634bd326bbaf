package config_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/correlator-go/correlator/gateway/config"
)

func env(name string) (string, bool) {
	v, ok := map[string]string{"TOKEN": "s3cret", "EMPTY": ""}[name]
	return v, ok
}

// Each mistake is told with its line, its member and what is wrong.
func TestMistakes(t *testing.T) {
	const ok = "upstreams:\n  a: {command: [a]}\n"
	for _, c := range []struct{ name, text, want string }{
		{"empty", "", `f.yaml:1: the file is empty`},
		{"only a comment", "# nothing\n", `f.yaml:1: the file is empty`},
		{"no YAML", "a:\n  - b\n c: d\n", `f.yaml:3: this is no YAML`},
		{"two documents", ok + "---\nx: 1\n", `f.yaml:3: a second document`},
		{"a list", "- a\n", `f.yaml:1: must be a mapping of listen, upstreams`},
		{"no upstream", "merge: true\n", `f.yaml:1: upstreams: is required`},
		{"unknown member", "upstreams:\n  a:\n    comand: [x]\n", `f.yaml:3: upstreams.a.comand: there is no such member; is it command?`},
		{"nothing near", ok + "zzzzzzzzz: 1\n", `f.yaml:3: zzzzzzzzz: there is no such member; there are listen`},
		{"twice", "upstreams:\n  a: {command: [a]}\n  a: {command: [b]}\n", `f.yaml:3: upstreams.a: stands twice; the first is in line 2`},
		{"scalar for a list", "upstreams:\n  a:\n    command: npx server\n", `f.yaml:3: upstreams.a.command: must be a list`},
		{"list for a map", "upstreams:\n  a: {command: [a], env: [x]}\n", `f.yaml:2: upstreams.a.env: must be a mapping of names`},
		{"map for text", "upstreams:\n  a: {url: {x: 1}}\n", `f.yaml:2: upstreams.a.url: must be text`},
		{"time without unit", ok + "drain: 10\n", `f.yaml:3: drain: must be a time with its unit`},
		{"negative time", ok + "drain: -10s\n", `f.yaml:3: drain: must not be negative`},
		{"word for a count", ok + "limits:\n  inFlight: many\n", `f.yaml:4: limits.inFlight: must be a whole number, or none`},
		{"negative count", ok + "limits:\n  inFlight: -1\n", `f.yaml:4: limits.inFlight: must not be negative`},
		{"word for a truth", ok + "merge: sometimes\n", `f.yaml:3: merge: must be true or false`},
		{"endless rate", ok + "clients: {rate: .inf}\n", `f.yaml:3: clients.rate: must be a number`},
		{"no such variable", "upstreams:\n  a:\n    url: https://h/\n    headers:\n      Authorization: Bearer ${GONE}\n", `f.yaml:5: upstreams.a.headers.Authorization: the environment has no variable "GONE"`},
		{"open reference", ok + "status: {token: \"${TOKEN\"}\n", `f.yaml:3: status.token: ${ has no end`},
		{"no kind of isolation", "upstreams:\n  a: {command: [a], isolation: none}\n", `f.yaml:2: upstreams.a.isolation: must be one of session, identity, shared`},
		{"both", "upstreams:\n  a: {command: [a], url: \"tcp://h:1\"}\n", `f.yaml:2: upstreams.a: has command and url`},
		{"neither", "upstreams:\n  a: {}\n", `f.yaml:2: upstreams.a: needs command or url`},
		{"scheme", "upstreams:\n  a: {url: \"ftp://h/\"}\n", `f.yaml:2: upstreams.a.url: must begin with`},
		{"two without merge", "upstreams:\n  a: {command: [a]}\n  b: {command: [b]}\n", `f.yaml:1: upstreams: there are several, which needs merge: true`},
		{"name that ends early", "merge: true\nupstreams:\n  a__b: {command: [a]}\n", `f.yaml:3: upstreams.a__b: a name must not hold __`},
		{"clients of JSON-RPC", ok + "listen: [{address: \"tcp://localhost:1\", protocol: jsonrpc}]\n", `f.yaml:3: listen[0].protocol: jsonrpc needs an upstream with protocol: jsonrpc`},
		{"clients of MCP", "upstreams:\n  a: {command: [a], protocol: jsonrpc}\nlisten: [{address: \"tcp://localhost:1\", protocol: mcp}]\n", `f.yaml:3: listen[0].protocol: mcp needs upstreams that speak it`},
		{"merged JSON-RPC", "merge: true\nupstreams:\n  a: {command: [a], protocol: jsonrpc}\n", `f.yaml:3: upstreams.a.protocol: jsonrpc has no lists of tools`},
		{"no protocol", "upstreams:\n  a: {command: [a], protocol: json}\n", `f.yaml:2: upstreams.a.protocol: must be one of mcp, jsonrpc`},
		{"prefix without merge", "upstreams:\n  a: {command: [a], uriPrefix: a+}\n", `f.yaml:2: upstreams.a.uriPrefix: is for merge: true`},
		{"odd prefix", "merge: true\nupstreams:\n  a: {command: [a], uriPrefix: \"a:\"}\n", `f.yaml:3: upstreams.a.uriPrefix: must be a letter, then`},
		{"prefix twice", "merge: true\nupstreams:\n  a: {command: [a], uriPrefix: x+}\n  b: {command: [b], uriPrefix: x+}\n", `f.yaml:4: upstreams.b.uriPrefix: is the prefix of a as well`},
		{"odd name", "upstreams:\n  \"a b\": {command: [a]}\n", `f.yaml:2: upstreams.a b: a name is up to`},
		{"everybody", ok + "listen:\n  - http://0.0.0.0:80/mcp\n", `f.yaml:4: listen[0]: other machines can reach it, which needs open: true`},
		{"no interface", ok + "listen: [\"http://:80/mcp\"]\n", `f.yaml:3: listen[0]: other machines can reach it`},
		{"no port", ok + "listen: [\"http://localhost/mcp\"]\n", `f.yaml:3: listen[0]: names no port`},
		{"odd address", ok + "listen: [carrier:pigeon]\n", `f.yaml:3: listen[0]: must begin with`},
		{"https alone", ok + "listen: [\"https://localhost:1/mcp\"]\n", `f.yaml:3: listen[0]: https needs tls`},
		{"same place", ok + "listen:\n  - http://localhost:1/a\n  - http://localhost:1/b\n", `f.yaml:5: listen[1]: is the place of listen[0] again`},
		{"status for all", ok + "status: \":1\"\n", `f.yaml:3: status: other machines can reach it`},
		{"hash", ok + "auth:\n  tokens:\n    - {name: a, hash: secret}\n", `f.yaml:5: auth.tokens[0].hash: must be sha256:`},
		{"auth that asks nobody", ok + "auth: {tokens: [{name: a, hash: \"sha256:" + strings.Repeat("0", 64) + "\"}]}\nlisten: [{address: \"tcp://0.0.0.0:1\", open: true}]\n", `f.yaml:4: listen[0]: auth asks nobody who comes in over tcp`},
		{"auth by nothing", ok + "auth: {}\n", `f.yaml:3: auth: needs tokens, oauth or certificates`},
		{"sample", ok + "telemetry: {otlp: \"http://h:1\", sample: 2}\n", `f.yaml:3: telemetry.sample: must be from 0 to 1`},
		{"replicas", ok + "cluster:\n  url: nats://h:1\n  replicas: 6\n", `f.yaml:5: cluster.replicas: must be from 1 to 5`},
		{"path of health", ok + "listen: [\"http://localhost:1/healthz\"]\n", `f.yaml:3: listen[0]: the gateway itself serves /healthz`},
		{"path of readiness", ok + "listen: [\"http://localhost:1/readyz/\"]\n", `f.yaml:3: listen[0]: the gateway itself serves /readyz`},
		{"path of metadata", ok + "listen: [\"http://localhost:1/.well-known/oauth-protected-resource/mcp\"]\n", `f.yaml:3: listen[0]: the gateway itself serves /.well-known/oauth-protected-resource`},
		{"space in a path", ok + "listen: [\"http://localhost:1/GET /x\"]\n", `f.yaml:3: listen[0]: the path must not hold spaces`},
		{"coded space in a path", ok + "listen: [\"http://localhost:1/a%20b\"]\n", `f.yaml:3: listen[0]: the path must not hold spaces`},
		{"coded control character", ok + "listen: [\"http://localhost:1/a%09b\"]\n", `f.yaml:3: listen[0]: the path must not hold spaces, control characters`},
		{"pattern for a path", ok + "listen: [\"http://localhost:1/{x}\"]\n", `f.yaml:3: listen[0]: the path must not hold spaces, control characters, braces`},
		{"path that goes up", ok + "listen: [\"http://localhost:1/../x\"]\n", `f.yaml:3: listen[0]: the path must not hold . or ..`},
		{"path with nothing in it", ok + "listen: [\"http://localhost:1//x\"]\n", `f.yaml:3: listen[0]: the path must not hold . or .. or empty`},
		{"query", ok + "listen: [\"http://localhost:1/mcp?x=1\"]\n", `f.yaml:3: listen[0]: must have no user, query or fragment`},
		{"user", ok + "listen: [\"http://u:p@localhost:1/mcp\"]\n", `f.yaml:3: listen[0]: must have no user, query or fragment`},
		{"path of tcp", ok + "listen: [\"tcp://localhost:1/mcp\"]\n", `f.yaml:3: listen[0]: must have no path`},
		{"more than stdio", ok + "listen: [\"stdio:x\"]\n", `f.yaml:3: listen[0]: must be stdio: alone`},
		{"port beyond", ok + "listen: [\"http://localhost:65536/mcp\"]\n", `f.yaml:3: listen[0]: the port must be from 1 to 65535`},
		{"empty port", ok + "listen: [\"http://localhost:/mcp\"]\n", `f.yaml:3: listen[0]: names no port`},
		{"socket with a host", ok + "listen: [\"unix://x/y\"]\n", `f.yaml:3: listen[0]: must be unix:/path`},
		{"long socket", ok + "listen: [\"unix:/" + strings.Repeat("x", 107) + "\"]\n", `f.yaml:3: listen[0]: is longer than the 107 bytes`},
		{"address for a host", ok + "listen: [{address: \"http://localhost:1/mcp\", hosts: [\"http://h\"]}]\n", `f.yaml:3: listen[0].hosts[0]: must be host or host:port`},
		{"no origin", ok + "listen: [{address: \"http://localhost:1/mcp\", origins: [h]}]\n", `f.yaml:3: listen[0].origins[0]: must be scheme://host`},
		{"origin with a path", ok + "listen: [{address: \"http://localhost:1/mcp\", origins: [\"http://h/\"]}]\n", `f.yaml:3: listen[0].origins[0]: must be scheme://host`},
		{"port of an upstream", "upstreams:\n  a: {url: \"http://h:99999/\"}\n", `f.yaml:2: upstreams.a.url: the port must be from 1`},
		{"no port of an upstream", "upstreams:\n  a: {url: \"tcp://h\"}\n", `f.yaml:2: upstreams.a.url: names no port: tcp://host:port`},
		{"port 0 of an upstream", "upstreams:\n  a: {url: \"tcp://h:0\"}\n", `f.yaml:2: upstreams.a.url: the port must not be 0`},
		{"socket of an upstream", "upstreams:\n  a: {url: \"unix:\"}\n", `f.yaml:2: upstreams.a.url: names no file: unix:/path`},
		{"name of a header", "upstreams:\n  a:\n    url: http://h/\n    headers:\n      X Y: z\n", `f.yaml:5: upstreams.a.headers.X Y: is no name of a header`},
		{"end of a header", "upstreams:\n  a:\n    url: http://h/\n    headers:\n      X: \"${TOKEN}\\r\\nY: z\"\n", `f.yaml:5: upstreams.a.headers.X: holds a control character`},
		{"header of ours", "upstreams:\n  a:\n    url: http://h/\n    headers:\n      mcp-session-id: z\n", `f.yaml:5: upstreams.a.headers.mcp-session-id: is a header that the gateway writes itself`},
		{"header of the transport", "upstreams:\n  a:\n    url: http://h/\n    headers:\n      content-length: \"5\"\n", `f.yaml:5: upstreams.a.headers.content-length: is a header that the gateway writes itself`},
		{"header twice", "upstreams:\n  a:\n    url: http://h/\n    headers: {X-Y: a, x-y: b}\n", `f.yaml:4: upstreams.a.headers: has both X-Y and x-y`},
		{"header of telemetry", ok + "telemetry: {otlp: \"http://h:1\", headers: {\"X Y\": z}}\n", `f.yaml:3: telemetry.headers.X Y: is no name of a header`},
		{"port of telemetry", ok + "telemetry: \"http://h:65536\"\n", `f.yaml:3: telemetry.otlp: the port must be from 1`},
		{"name of a variable", "upstreams:\n  a: {command: [a], env: {A=B: c}}\n", `f.yaml:2: upstreams.a.env.A=B: is no name of a variable`},
		{"NUL in a variable", "upstreams:\n  a: {command: [a], env: {A: \"\\0\"}}\n", `f.yaml:2: upstreams.a.env.A: holds a NUL`},
		{"NUL in a command", "upstreams:\n  a: {command: [a, \"\\0\"]}\n", `f.yaml:2: upstreams.a.command[1]: holds a NUL`},
		{"pauses that shrink", "upstreams:\n  a: {command: [a], restart: {min: 2s, max: 1s}}\n", `f.yaml:2: upstreams.a.restart: min must not be longer than max`},
		{"method without a name", "upstreams:\n  a: {command: [a], methods: {\"\": {total: 1s}}}\n", `f.yaml:2: upstreams.a.methods: a method has a name`},
		{"one token of two", ok + "auth:\n  tokens:\n    - {name: a, hash: \"sha256:" + strings.Repeat("1", 64) + "\"}\n    - {name: b, hash: \"sha256:" + strings.Repeat("1", 64) + "\"}\n", `f.yaml:6: auth.tokens[1].hash: is that of tokens[0] too`},
		{"hash of the page", ok + "status:\n  token: sha256:zz\n", `f.yaml:4: status.token: must be a secret, or sha256:`},
		{"port of the page", ok + "status: \"127.0.0.1:99999\"\n", `f.yaml:3: status: the port must be from 1`},
		{"short lease", ok + "cluster: {url: embedded, lease: 10ms}\n", `f.yaml:3: cluster.lease: must be 500ms or more`},
		{"no lease", ok + "cluster: {url: embedded, lease: none}\n", `f.yaml:3: cluster.lease: must be 500ms or more`},
		{"name of a cluster", ok + "cluster: {url: embedded, name: \"a.*\"}\n", `f.yaml:3: cluster.name: a name is up to 64`},
		{"half a certificate", ok + "cluster: {url: \"nats://h:1\", tls: {cert: a}}\n", `f.yaml:3: cluster.tls: cert and key go together`},
		{"port of a cluster", ok + "cluster: nats://h:99999\n", `f.yaml:3: cluster: the port must be from 1`},
		{"cluster", ok + "cluster: http://h:1\n", `f.yaml:3: cluster: must be nats://`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := config.Parse("f.yaml", []byte(c.text), env)
			require.Nil(t, got)
			require.ErrorContains(t, err, c.want)
			require.NotContains(t, err.Error(), "s3cret")
		})
	}
}

// All mistakes are told at once, in the file's order.
func TestMistakesAreAllTold(t *testing.T) {
	_, err := config.Parse("f", []byte("drain: soon\nmerge: 7\nupstreams: {a: {command: x}}\n"), env)
	lines := strings.Split(err.Error(), "\n")
	require.Len(t, lines, 3)
	for i, start := range []string{"f:1: drain: ", "f:2: merge: ", "f:3: upstreams.a.command: "} {
		require.True(t, strings.HasPrefix(lines[i], start), lines[i])
	}
}

func TestParse(t *testing.T) {
	c, err := config.Parse("f", []byte(`
listen:
  - http://127.0.0.1:0/mcp
  - {address: "tcp://0.0.0.0:1", open: true}
upstreams:
  b: &child
    command: [npx, "-y", x]
    env: {KEY: "${TOKEN}", PLAIN: "$${TOKEN} ${EMPTY}."}
    isolation: shared
    idle: none
    limits: {inFlight: 1_000, queued: none}
    methods:
      tools/call: {total: 5m, idle: 30s}
  a: *child
merge: true
cluster: nats://h:4222
status: none
`), env)
	require.NoError(t, err)
	require.Equal(t, []string{"b", "a"}, c.Names())
	require.Equal(t, c.Upstreams["a"], c.Upstreams["b"])
	b := c.Upstreams["b"]
	require.Equal(t, "s3cret", b.Env["KEY"])
	require.Equal(t, "${TOKEN} .", b.Env["PLAIN"])
	require.Less(t, b.Idle, time.Duration(0))
	require.Equal(t, config.Limits{InFlight: 1000, Queued: -1}, b.Limits)
	require.Equal(t, config.Deadlines{Total: 5 * time.Minute, Idle: 30 * time.Second}, b.Methods["tools/call"])
	require.Equal(t, "nats://h:4222", c.Cluster.URL)
	require.Equal(t, "f:7: upstreams.b.command[0]: no such program", c.Mistake("upstreams.b.command[0]", "no such program").Error())
	require.Equal(t, "f:6: upstreams.b.dir: is gone", c.Mistake("upstreams.b.dir", "is gone").Error())
}

// What gateway init writes is right, and so are its lines in comments.
func TestSample(t *testing.T) {
	for name, text := range map[string]string{"as it is": config.Sample, "with everything": config.Uncomment(config.Sample)} {
		t.Run(name, func(t *testing.T) {
			_, err := config.Parse("gateway.yaml", []byte(text), func(string) (string, bool) { return "x", true })
			require.NoError(t, err)
			require.NoError(t, validate(t, text))
		})
	}
}

func validate(t *testing.T, text string) error {
	t.Helper()
	var schema jsonschema.Schema
	require.NoError(t, json.Unmarshal(config.Schema(), &schema))
	resolved, err := schema.Resolve(nil)
	require.NoError(t, err)
	var v any
	require.NoError(t, yaml.Unmarshal([]byte(text), &v))
	return resolved.Validate(v)
}

// The schema takes what Parse takes, and refuses what it can see.
func TestSchema(t *testing.T) {
	for text, good := range map[string]bool{
		"upstreams: {a: {command: [a]}}": true,
		"upstreams: {a: {command: [a], limits: {inFlight: none}}}\ndrain: 1m30s\nlisten: [\"unix:/s\", {address: \"stdio:\"}]": true,
		"merge: true":                                       false,
		"upstreams: {a: {comand: [a]}}":                     false,
		"upstreams: {a: {command: a}}":                      false,
		"upstreams: {a: {command: [a], isolation: nobody}}": false,
		"upstreams: {a: {command: [a]}}\ndrain: 10":         false,
		"upstreams: {a: {command: [a]}}\nmerge: 1":          false,
	} {
		_, err := config.Parse("f", []byte(text), env)
		require.Equal(t, good, err == nil, "%s: %v", text, err)
		err = validate(t, text)
		require.Equal(t, good, err == nil, "%s: %v", text, err)
	}
}

// The published schema is this one: gateway schema > docs/gateway-schema.json.
func TestSchemaIsPublished(t *testing.T) {
	published, err := os.ReadFile("../../docs/gateway-schema.json")
	require.NoError(t, err)
	require.Equal(t, string(config.Schema()), string(published))
}

func FuzzParse(f *testing.F) {
	f.Add(config.Sample)
	f.Add("upstreams: {a: {command: [a]}}")
	f.Add("a: &a [*a]")
	f.Fuzz(func(t *testing.T, text string) {
		c, err := config.Parse("f", []byte(text), env)
		if err == nil {
			require.NotEmpty(t, c.Names())
			return
		}
		for _, m := range err.(config.Mistakes) {
			require.Positive(t, m.Line, m.Error())
			require.NotEmpty(t, m.Problem)
		}
	})
}
