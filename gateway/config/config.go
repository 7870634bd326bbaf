package config

import (
	"net/url"
	"time"
)

// Config is a whole file. In durations and counts zero is the default and negative is
// none, as in the options that they become; the file says none. The tags are what the
// schema says of each member.
type Config struct {
	Listen        []Listen            `yaml:"listen" doc:"Where clients come in. Without any it is http://127.0.0.1:8808/mcp."`
	Upstreams     map[string]Upstream `yaml:"upstreams" doc:"The servers, by name. At least one." required:"true"`
	Merge         bool                `yaml:"merge" doc:"Offers all upstreams as one server: tools and prompts are called name__tool. Without it there is one upstream, as it is."`
	MergePatience time.Duration       `yaml:"mergePatience" doc:"How long a list waits for a slow upstream when another one has answered; what is late is missing."`
	Isolation     string              `yaml:"isolation" enum:"session identity shared" doc:"Who shares a way to an upstream that does not say so itself. Default session."`
	Limits        Limits              `yaml:"limits" doc:"Bounds of all upstreams together."`
	Clients       Clients             `yaml:"clients" doc:"Bounds of each client."`
	Auth          *Auth               `yaml:"auth" doc:"Who may come in over HTTP and WebSocket. Without it everybody who reaches the address."`
	Status        Status              `yaml:"status" doc:"The status page, metrics and health."`
	Log           Log                 `yaml:"log" doc:"The log, on standard error."`
	Telemetry     Telemetry           `yaml:"telemetry" doc:"OpenTelemetry over OTLP."`
	Drain         time.Duration       `yaml:"drain" doc:"How long calls may go on after SIGTERM. Default 10s."`
	Guard         *bool               `yaml:"guard" doc:"Has a small process beside the gateway end its child processes should it be killed, or frozen with a cluster's leases. Unix only. Default true."`
	Cluster       *Cluster            `yaml:"cluster" doc:"The NATS server where nodes meet; without it this is the only node."`

	file  string
	lines map[string]int // of each member, by its path
	order []string       // of the upstreams
}

// Listen is one place where clients come in.
type Listen struct {
	Address  string   `yaml:"address" short:"true" required:"true" doc:"stdio:, unix:/path, tcp://host:port, http://host:port/path or https://host:port/path. WebSockets come in at http and https."`
	Protocol string   `yaml:"protocol" enum:"mcp jsonrpc" doc:"What clients speak here. Default that of the upstreams. jsonrpc is JSON-RPC 2.0 without MCP: any number is an id, batches are good, and over http the response to a POST is its answer, without sessions. It needs an upstream that speaks it."`
	Open     bool     `yaml:"open" doc:"Lets other machines in. Without it the address must be a loopback one."`
	TLS      *TLS     `yaml:"tls" doc:"The certificate of https. With ca, clients must show a certificate of that authority."`
	Hosts    []string `yaml:"hosts" doc:"Host headers that are good beside those of a loopback address."`
	Origins  []string `yaml:"origins" doc:"Origin headers that are good beside the server's own. * is all."`
	Identity string   `yaml:"identity" doc:"Who clients are that need not prove it."`
}

// TLS names files in PEM.
type TLS struct {
	Cert string `yaml:"cert" doc:"File with the certificate chain."`
	Key  string `yaml:"key" doc:"File with its key."`
	CA   string `yaml:"ca" doc:"File with the authorities that the other side's certificate must come from."`
}

// Upstream is one server.
type Upstream struct {
	Command        []string             `yaml:"command" doc:"Starts the server as a child process: program and arguments. This or url."`
	Env            map[string]string    `yaml:"env" doc:"Environment of the child beside the gateway's own."`
	Dir            string               `yaml:"dir" doc:"Where the child runs."`
	URL            string               `yaml:"url" doc:"Where the server is: unix:/path, tcp://host:port, ws://, wss://, http:// or https://. This or command."`
	Headers        map[string]string    `yaml:"headers" doc:"Headers of each request to http, https, ws and wss. Nothing of a client's credentials is ever passed on."`
	TLS            *TLS                 `yaml:"tls" doc:"Our certificate, and the authorities of the server's; without it those of the system."`
	Protocol       string               `yaml:"protocol" enum:"mcp jsonrpc" doc:"What it speaks. Default mcp. jsonrpc is JSON-RPC 2.0 without MCP: nothing is answered in its place, there is no handshake, and it cannot be merged."`
	URIPrefix      string               `yaml:"uriPrefix" doc:"What stands before the URIs of its resources where upstreams are merged, such as files+ for files+file:///a, so that two with one URI are both reached. A letter, then letters, digits, +, - and points."`
	Isolation      string               `yaml:"isolation" enum:"session identity shared" doc:"Who shares a way to it: nobody, the clients of one identity, or all."`
	MaxWays        int                  `yaml:"maxWays" doc:"How many ways (child processes, connections) isolation may make."`
	Idle           time.Duration        `yaml:"idle" doc:"How long a way that nobody uses is kept."`
	Deadlines      Deadlines            `yaml:"deadlines" doc:"Of its calls."`
	Methods        map[string]Deadlines `yaml:"methods" doc:"Deadlines of single methods, such as tools/call."`
	Limits         Limits               `yaml:"limits" doc:"Bounds of the calls to it."`
	Retry          *bool                `yaml:"retry" doc:"Asks again when the connection was lost, where that cannot do harm: lists and reads, never tools/call. Default true."`
	Hedge          time.Duration        `yaml:"hedge" doc:"Asks a read a second time when it has no answer for so long. Default none."`
	OpenTimeout    time.Duration        `yaml:"openTimeout" doc:"How long its start may take, the handshake included. Default 30s."`
	Breaker        Breaker              `yaml:"breaker" doc:"Refuses calls at once while the server does not answer."`
	RestartBackoff Backoff              `yaml:"restart" doc:"Pauses before it is opened again."`
}

// Backoff is how the pause between two starts grows.
type Backoff struct {
	Min    time.Duration `yaml:"min" doc:"The first pause. Default 100ms."`
	Max    time.Duration `yaml:"max" doc:"The longest; pauses double. Default 30s."`
	Stable time.Duration `yaml:"stable" doc:"After how long up the next pause is the first again. Default 10s."`
}

// Breaker is when an upstream is left alone.
type Breaker struct {
	Failures int           `yaml:"failures" doc:"After how many calls in a row that timed out or were lost. Default none."`
	Delay    time.Duration `yaml:"delay" doc:"For how long. Default 5s."`
}

// Deadlines of a call.
type Deadlines struct {
	Queue time.Duration `yaml:"queue" doc:"How long it may wait to be sent."`
	Idle  time.Duration `yaml:"idle" doc:"How long it may hear nothing; progress counts. Default none."`
	Total time.Duration `yaml:"total" doc:"How long it may take from when it is sent. Default 60s."`
}

// Limits bound what is in flight.
type Limits struct {
	InFlight        int `yaml:"inFlight" doc:"Calls that are sent and not answered."`
	Queued          int `yaml:"queued" doc:"Calls that wait to be sent."`
	QueuedPerClient int `yaml:"queuedPerClient" doc:"Those of one client: of its identity, or else its address."`
}

// Clients bound one client.
type Clients struct {
	Rate     float64 `yaml:"rate" doc:"Calls a second. A client is its identity, or else its address, whatever number of sessions it opens."`
	Burst    int     `yaml:"burst" doc:"Calls at once after a pause."`
	Buffer   int     `yaml:"buffer" doc:"Bytes that may wait for a client that does not read; beyond it the client is let go of. Default 4 MiB."`
	Overflow string  `yaml:"overflow" enum:"coalesce close" doc:"What becomes of a client that reads too slowly: of its progress the last is kept for each call, or it is let go of. It never loses an answer. Default coalesce."`
	Partial  int     `yaml:"partial" doc:"Bytes of all messages together that have begun to come in and are not whole. Default 256 MiB."`
	Frame    int     `yaml:"frame" doc:"The longest message, in bytes. Default 16 MiB."`
	Most     int     `yaml:"most" doc:"How many clients each address takes. Default 32768."`
}

// Auth is who may come in.
type Auth struct {
	Tokens       []Token `yaml:"tokens" doc:"Bearer tokens. gateway token makes one."`
	OAuth        *OAuth  `yaml:"oauth" doc:"Access tokens of an authorization server."`
	Certificates bool    `yaml:"certificates" doc:"Takes the subject of a client's certificate for its identity."`
}

// Token is one client.
type Token struct {
	Name   string   `yaml:"name" required:"true" doc:"Who has it."`
	Hash   string   `yaml:"hash" required:"true" doc:"What gateway token prints beside it; the token itself stands nowhere."`
	Scopes []string `yaml:"scopes" doc:"What it may do, for logs."`
}

// OAuth is what access tokens must be.
type OAuth struct {
	Resource string   `yaml:"resource" required:"true" doc:"The address of this gateway as its clients know it; the audience of each token."`
	Issuers  []string `yaml:"issuers" required:"true" doc:"Authorization servers that are trusted."`
	Scopes   []string `yaml:"scopes" doc:"What each token must allow."`
}

// Status is where the page is.
type Status struct {
	Address string `yaml:"address" short:"true" doc:"host:port of the page, /metrics, /healthz and /readyz. Without it they are at every loopback http address of listen; none turns the page and metrics off."`
	Token   string `yaml:"token" doc:"What the cancel button and, from other machines, the page need: a secret, or what gateway token prints beside one. Without it one is made at each start and logged."`
	Open    bool   `yaml:"open" doc:"Lets other machines see the page, with the token. Without it the address must be a loopback one."`
}

// Log is what is written.
type Log struct {
	Format string `yaml:"format" enum:"text json" doc:"Default text."`
	Level  string `yaml:"level" enum:"debug info warn error" doc:"Default info."`
	Calls  bool   `yaml:"calls" doc:"A line for each call: client, upstream, method, tool, outcome, times."`
}

// Telemetry is where traces and metrics go.
type Telemetry struct {
	Endpoint string            `yaml:"otlp" short:"true" doc:"http://host:port or https://host:port of an OTLP collector. Without it nothing is sent."`
	Headers  map[string]string `yaml:"headers" doc:"Sent with each export."`
	Sample   float64           `yaml:"sample" doc:"Which part of the traces that begin here is recorded, 0 to 1. Default 1."`
}

// Cluster is where nodes meet.
type Cluster struct {
	URL         string        `yaml:"url" short:"true" required:"true" doc:"nats://host:port or tls://host:port, several with commas; embedded starts a server of its own."`
	Node        string        `yaml:"node" doc:"The name of this node. Default the host's name."`
	Name        string        `yaml:"name" doc:"Of the cluster; nodes of one name share upstreams. Default gateway."`
	Credentials string        `yaml:"credentials" doc:"File with NATS credentials."`
	TLS         *TLS          `yaml:"tls" doc:"Certificate for NATS, and its authorities."`
	Lease       time.Duration `yaml:"lease" doc:"How long a lost node keeps its servers."`
	Replicas    int           `yaml:"replicas" doc:"How many servers of a NATS cluster keep the leases, 1 to 5. Default 3 where it is a cluster."`
}

// SpeaksPlain reports whether clients and servers speak JSON-RPC without MCP. Check sees
// to it that all of them do, or none.
func (c *Config) SpeaksPlain() bool {
	for _, u := range c.Upstreams {
		return u.Protocol == plainProtocol
	}
	return false
}

// plainProtocol is the word for JSON-RPC without MCP.
const plainProtocol = "jsonrpc"

// Names gives the names of the upstreams in the file's order.
func (c *Config) Names() []string { return c.order }

// File is the name that Parse was given.
func (c *Config) File() string { return c.file }

// Scheme is what an address begins with, without the colon.
func Scheme(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Scheme
}
