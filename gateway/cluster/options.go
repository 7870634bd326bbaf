package cluster

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
)

// Defaults of Options.
const (
	// DefaultLease bounds how long the calls of a lost host hang.
	DefaultLease = 5 * time.Second
	// DefaultPrefix begins every subject that nodes use.
	DefaultPrefix = "correlator.gateway"
	// DefaultWriteBuffer bounds what waits to go to one peer, in bytes.
	DefaultWriteBuffer = 16 << 20
	// DefaultMaxFrame is the longest message, in bytes.
	DefaultMaxFrame = 64 << 20
)

// clusterReplicas is how many servers of a NATS cluster keep the leases by default.
const clusterReplicas = 3

// minLease leaves room for the pauses that are parts of a lease, minPayload for the
// messages of the protocol itself.
const (
	minLease   = 500 * time.Millisecond
	minPayload = 4 << 10
)

// Options of a node. Zero is the default that the field names.
type Options struct {
	// URL is that of the NATS server, nats:// or tls://, or several with commas between
	// them. Required unless Server is set.
	URL string
	// Server is a NATS server in this process, as package embedded starts it.
	Server nats.InProcessConnProvider
	// Node names this node in errors and on status pages; "" is a random name. Two
	// nodes may share one: nothing is told apart by it.
	Node string
	// Prefix begins every subject and, with dots as hyphens, names the bucket of the
	// leases. Gateways with another prefix are another cluster. "" is DefaultPrefix.
	Prefix string
	// Lease is how long an owner may be silent before another node takes over; all nodes
	// of a cluster have the same. Zero is DefaultLease; less than half a second is
	// refused. Half of it is for the end of the child: see ChildGrace.
	Lease time.Duration
	// Replicas is how many servers of a NATS cluster keep the leases, up to 5: with 3
	// they outlive the loss of one. Zero is 3 where the server is one of a cluster, and 1
	// where it is alone. The first node of all decides.
	Replicas int
	// Credentials is the file with the user's JWT and key, as NATS has them. Token, or
	// User and Password, are what servers without accounts ask for.
	Credentials, Token, User, Password string
	// CAFile has the authorities of the server's certificate, CertFile and KeyFile are
	// what the node shows; "" leaves each to the system and the URL.
	CAFile, CertFile, KeyFile string
	// MaxPayload is the largest piece of a message, in bytes; what is larger is sent in
	// several. Zero, and what is above it, is what the server allows.
	MaxPayload int
	// MaxFrame is the longest message, in bytes. Zero is DefaultMaxFrame.
	MaxFrame int
	// WriteBuffer bounds what waits to be sent to one peer, in bytes. Zero is
	// DefaultWriteBuffer.
	WriteBuffer int64
}

// OptionError says which option Join refused.
type OptionError struct {
	// Field names it, Problem says what is wrong.
	Field, Problem string
}

// Error names both.
func (e *OptionError) Error() string { return "cluster: " + e.Field + ": " + e.Problem }

// Errors to branch on with errors.Is.
var (
	// ErrGone: the node at the other end of a way has gone, or NATS to it.
	ErrGone = errors.New("cluster: a node has gone")
	// ErrLeaseLost: this node could not keep its lease, and has ended the child.
	ErrLeaseLost = errors.New("cluster: the lease was lost")
	// ErrClosed: this node was closed.
	ErrClosed = errors.New("cluster: closed")
	// ErrTooLarge: a message is longer than Options.MaxFrame.
	ErrTooLarge = errors.New("cluster: the message is too large")
)

func (o Options) withDefaults() (Options, error) {
	switch {
	case o.URL == "" && o.Server == nil:
		return o, &OptionError{"URL", "neither it nor Server is set"}
	case !areAddresses(o.URL):
		return o, &OptionError{"URL", "it is not nats://host:port or tls://host:port, or several of them with commas"} // a comma in a password would show a part of it
	case o.Lease < 0 || o.Lease > 0 && o.Lease < minLease:
		return o, &OptionError{"Lease", fmt.Sprintf("%v is less than %v", o.Lease, minLease)}
	case o.Replicas < 0 || o.Replicas > 5:
		return o, &OptionError{"Replicas", fmt.Sprintf("%d is not among 1 to 5", o.Replicas)}
	case o.MaxPayload < 0 || o.MaxPayload > 0 && o.MaxPayload < minPayload:
		return o, &OptionError{"MaxPayload", fmt.Sprintf("%d is less than %d bytes", o.MaxPayload, minPayload)}
	case o.MaxFrame < 0:
		return o, &OptionError{"MaxFrame", "is negative"}
	case o.WriteBuffer < 0:
		return o, &OptionError{"WriteBuffer", "is negative"}
	case (o.CertFile == "") != (o.KeyFile == ""):
		return o, &OptionError{"CertFile", "it and KeyFile want each other"}
	case strings.ContainsAny(o.Prefix, " \t\r\n*>") || strings.HasPrefix(o.Prefix, ".") || strings.HasSuffix(o.Prefix, ".") || strings.Contains(o.Prefix, ".."):
		return o, &OptionError{"Prefix", fmt.Sprintf("%q is no subject", o.Prefix)}
	}
	if o.Node == "" {
		o.Node = "node-" + random()[:8]
	}
	if o.Prefix == "" {
		o.Prefix = DefaultPrefix
	}
	if o.Lease == 0 {
		o.Lease = DefaultLease
	}
	if o.MaxFrame == 0 {
		o.MaxFrame = DefaultMaxFrame
	}
	if o.WriteBuffer == 0 {
		o.WriteBuffer = DefaultWriteBuffer
	}
	return o, nil
}

// areAddresses looks before NATS does, whose error would repeat what is secret in them.
func areAddresses(urls string) bool {
	if urls == "" {
		return true
	}
	for one := range strings.SplitSeq(urls, ",") {
		if one = strings.TrimSpace(one); !strings.Contains(one, "://") {
			one = "nats://" + one
		}
		if u, err := url.Parse(one); err != nil || u.Host == "" {
			return false
		}
	}
	return true
}

// redact gives addresses without the users, passwords and tokens in them, for errors.
func redact(urls string) string {
	if urls == "" {
		return "this process"
	}
	out := strings.Split(urls, ",")
	for i, one := range out {
		scheme, rest, found := strings.Cut(strings.TrimSpace(one), "://")
		if !found {
			scheme, rest = "nats", scheme
		}
		out[i] = scheme + "://" + rest[strings.LastIndexByte(rest, '@')+1:]
	}
	return strings.Join(out, ",")
}

// ChildGrace gives conn.Command's Grace and TermGrace for a child that is to end in
// the time that a lease leaves for it.
func (o Options) ChildGrace() (grace, term time.Duration) {
	if o.Lease == 0 {
		o.Lease = DefaultLease
	}
	return o.term() - o.fence(), o.kill() - o.term()
}

// The parts of a lease. An owner that could not renew its lease for half of it ends
// its child, which has until the other half is over; a peer is given up before then. Of
// an owner that is frozen or was killed its guard ends the child at the same times as
// it would itself: a fifth of the lease is what the guard may be late.
//
//	0        ⅛ renew              ½ fence   ⁷⁄₁₀ term  ⅘ kill, silent  1 expired
//	├─────────┼───────…────────────┼───────────┼─────────┼──────────────┤
func (o *Options) renew() time.Duration  { return o.Lease / 8 }
func (o *Options) fence() time.Duration  { return o.Lease / 2 }
func (o *Options) term() time.Duration   { return o.Lease * 7 / 10 }
func (o *Options) kill() time.Duration   { return o.Lease * 4 / 5 }
func (o *Options) silent() time.Duration { return o.Lease * 4 / 5 }

// beat is the pause between two signs of life: of a process that was killed NATS
// knows at once, and says so to the next one.
func (o *Options) beat() time.Duration { return min(o.Lease/10, 500*time.Millisecond) }

// settle is how long after NATS was away the other nodes may still be on their way
// back to it.
func (o *Options) settle() time.Duration { return min(o.Lease/8, 500*time.Millisecond) }

// random is 128 random bits, for subjects.
func random() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // which never fails
	return hex.EncodeToString(b[:])
}
