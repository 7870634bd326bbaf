package cluster

import "time"

// Options of a node. Zero is the default that the field names.
type Options struct {
	// URL is that of the NATS server, nats:// or tls://. "embedded" starts one in this
	// process, for one node and for tests.
	URL string
	// Node names this node; "" is a random name.
	Node string
	// Lease is how long an owner may be silent before another node takes over. Zero is
	// DefaultLease.
	Lease time.Duration
	// Credentials and the files of TLS, as NATS has them.
	Credentials, CertFile, KeyFile, CAFile string
	// MaxPayload is the largest piece of a message; what is larger is sent in several.
	// Zero is what the server allows.
	MaxPayload int
}

// DefaultLease bounds how long the calls of a lost host hang.
const DefaultLease = 5 * time.Second
