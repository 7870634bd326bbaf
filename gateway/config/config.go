package config

import (
	"fmt"
	"time"
)

// Config is a whole file. In durations and counts zero is the default and negative is
// none, as in the options that they become.
type Config struct {
	// Listen are the places where clients come in.
	Listen []Listen `yaml:"listen" json:"listen"`
	// Upstreams are the servers, by name.
	Upstreams map[string]Upstream `yaml:"upstreams" json:"upstreams"`
	// Merge offers all upstreams as one server under prefixes; without it there must
	// be one upstream.
	Merge bool `yaml:"merge" json:"merge"`
	// Limits are those of all upstreams together.
	Limits Limits `yaml:"limits" json:"limits"`
	// Drain is how long calls may go on after SIGTERM.
	Drain time.Duration `yaml:"drain" json:"drain"`
	// Cluster is the NATS server that nodes meet at, "" for one node.
	Cluster string `yaml:"cluster" json:"cluster"`
}

// Listen is one place where clients come in.
type Listen struct {
	// Address is stdio:, unix:/path, tcp://host:port, ws://host:port/path or
	// http://host:port/path; wss and https want TLS.
	Address string `yaml:"address" json:"address"`
	// TLS is the certificate and key, and the authority of clients' certificates.
	TLS *TLS `yaml:"tls" json:"tls,omitempty"`
}

// TLS names files in PEM.
type TLS struct {
	Cert string `yaml:"cert" json:"cert"`
	Key  string `yaml:"key" json:"key"`
	CA   string `yaml:"ca" json:"ca,omitempty"`
}

// Upstream is one server.
type Upstream struct {
	// Command starts it as a child process; URL reaches it otherwise: unix:, tcp://,
	// ws://, wss://, http://, https://. One of the two is required.
	Command []string          `yaml:"command" json:"command,omitempty"`
	Env     map[string]string `yaml:"env" json:"env,omitempty"`
	Dir     string            `yaml:"dir" json:"dir,omitempty"`
	URL     string            `yaml:"url" json:"url,omitempty"`
	// Headers go with every request to an http URL; ${NAME} is from the environment.
	Headers map[string]string `yaml:"headers" json:"headers,omitempty"`
	TLS     *TLS              `yaml:"tls" json:"tls,omitempty"`
	// Protocol is mcp or jsonrpc.
	Protocol string `yaml:"protocol" json:"protocol,omitempty"`
	// Isolation is session, identity or shared.
	Isolation string `yaml:"isolation" json:"isolation,omitempty"`
	// MaxChildren bounds the ways that isolation makes; Idle is how long an unused
	// one is kept.
	MaxChildren int           `yaml:"maxChildren" json:"maxChildren,omitempty"`
	Idle        time.Duration `yaml:"idle" json:"idle,omitempty"`
	// Deadlines are those of all methods, Methods those of one.
	Deadlines Deadlines            `yaml:"deadlines" json:"deadlines"`
	Methods   map[string]Deadlines `yaml:"methods" json:"methods,omitempty"`
	Limits    Limits               `yaml:"limits" json:"limits"`
}

// Deadlines of a call.
type Deadlines struct {
	Queue time.Duration `yaml:"queue" json:"queue,omitempty"`
	Idle  time.Duration `yaml:"idle" json:"idle,omitempty"`
	Total time.Duration `yaml:"total" json:"total,omitempty"`
}

// Limits bound what is in flight.
type Limits struct {
	InFlight int `yaml:"inFlight" json:"inFlight,omitempty"`
	Queued   int `yaml:"queued" json:"queued,omitempty"`
}

// Mistake is one thing that is wrong in a file, and where.
type Mistake struct {
	File string
	Line int // from 1; 0 is not known
	// Path is the member, such as upstreams.files.command; Problem says what is wrong.
	Path, Problem string
}

// Error is one line: file:line: path: problem.
func (m *Mistake) Error() string {
	return fmt.Sprintf("%s:%d: %s: %s", m.File, m.Line, m.Path, m.Problem)
}
