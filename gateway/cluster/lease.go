package cluster

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/correlator-go/correlator/gateway/guard"
	"github.com/correlator-go/correlator/gateway/link"
)

// record is what a lease says, for other nodes and for people.
type record struct {
	// Node is the owner's name, ID tells its lives apart, Nonce the leases of one.
	Node, ID, Nonce string
	// Upstream and Identity are what is owned.
	Upstream, Identity string
}

// lease is one key of the bucket while it is ours. The server forgets a key that was
// not written for the time of a lease, counted from when the write came in, which is
// after we sent it. So until a lease after we sent it, nobody else has the key.
type lease struct {
	n        *Node
	key      string
	value    []byte
	nonce    string
	revision uint64
	since    time.Time
	// child is until when what was started under the lease may live, whatever becomes
	// of this process.
	child guard.Lease

	mu   sync.Mutex // guards sent
	sent time.Time  // the last write that was confirmed
}

// confirmed notes a write that was sent then.
func (l *lease) confirmed(sent time.Time) {
	l.mu.Lock()
	l.sent = sent
	l.mu.Unlock()
	l.child.Keep(sent, l.n.o.term(), l.n.o.kill())
}

// fence is when it must be given up.
func (l *lease) fence() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.sent.Add(l.n.o.fence())
}

// check says whether a child may be started: this process may have been frozen since
// the lease was taken.
func (l *lease) check() error {
	if time.Now().Before(l.fence()) {
		return nil
	}
	return l.unrenewed()
}

func (l *lease) unrenewed() error {
	return fmt.Errorf("%w: NATS did not renew it for %v", ErrLeaseLost, l.n.o.fence())
}

// bucket opens the bucket of the leases, or makes it.
func bucket(ctx context.Context, js jetstream.JetStream, o *Options) (jetstream.KeyValue, error) {
	name := strings.NewReplacer(".", "-", "/", "-", ":", "-", "$", "-").Replace(o.Prefix) + "-leases"
	want := jetstream.KeyValueConfig{
		Bucket: name, Description: "who owns the gateway's ways to servers", History: 1, TTL: o.Lease, Replicas: o.Replicas, Storage: jetstream.FileStorage,
	}
	kv, err := js.KeyValue(ctx, name)
	if errors.Is(err, jetstream.ErrBucketNotFound) {
		if kv, err = js.CreateKeyValue(ctx, want); errors.Is(err, jetstream.ErrBucketExists) {
			kv, err = js.KeyValue(ctx, name) // another node was first
		}
	}
	if err != nil {
		return nil, fmt.Errorf("cluster: the bucket %s at %s (JetStream must be enabled, on at least %d of its servers): %w", name, redact(o.URL), max(1, o.Replicas), err)
	}
	status, err := kv.Status(ctx)
	if err != nil {
		return nil, fmt.Errorf("cluster: the bucket %s: %w", name, err)
	}
	if status.TTL() != o.Lease {
		return nil, &OptionError{"Lease", fmt.Sprintf("%v here and %v in the bucket %s: all nodes must have the same (delete the bucket to change it)", o.Lease, status.TTL(), name)}
	}
	return kv, nil
}

// keyOf names a way in the bucket. Names and identities may be anything, keys may not.
func keyOf(upstream string, k link.Key) string {
	sum := sha256.Sum256([]byte(upstream + "\x00" + k.Identity))
	return "way." + hex.EncodeToString(sum[:16])
}

// claim takes the lease of a way. If another has it, the lease is nil and its record
// is given.
func (n *Node) claim(ctx context.Context, upstream string, k link.Key) (*lease, *record, error) {
	l := &lease{n: n, key: keyOf(upstream, k), nonce: random(), since: time.Now()}
	l.value, _ = json.Marshal(record{n.o.Node, n.id, l.nonce, upstream, k.Identity}) // strings only
	revision, err := n.kv.Create(ctx, l.key, l.value)
	if err == nil {
		l.revision = revision
		l.confirmed(l.since)
		return l, nil, nil
	}
	// It is taken, or the confirmation was lost.
	found, revision, getErr := n.owner(ctx, l.key)
	switch {
	case getErr == nil && found.Nonce == l.nonce:
		l.revision = revision
		l.confirmed(l.since)
		return l, nil, nil
	case getErr == nil:
		return nil, found, nil
	case conflicts(err) && errors.Is(getErr, jetstream.ErrKeyNotFound):
		return nil, nil, errRace // it has expired in between
	}
	return nil, nil, err
}

// conflicts reports whether somebody else wrote the key first: a bucket that several
// servers keep says so by another number.
func conflicts(err error) bool {
	said, ok := errors.AsType[*jetstream.APIError](err)
	return ok && (said.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence || said.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequenceConstant)
}

// errRace: try again.
var errRace = errors.New("cluster: the lease has just changed hands")

func (n *Node) owner(ctx context.Context, key string) (*record, uint64, error) {
	entry, err := n.kv.Get(ctx, key)
	if err != nil {
		return nil, 0, err
	}
	var r record
	if err := json.Unmarshal(entry.Value(), &r); err != nil {
		return nil, 0, fmt.Errorf("cluster: the lease %s is not one of ours: %w", key, err)
	}
	return &r, entry.Revision(), nil
}

// keep renews the lease until stop is closed. The error says that it must be given up
// now, while half of it is left.
func (l *lease) keep(stop <-chan struct{}) error {
	o := &l.n.o
	for {
		fence := l.fence()
		select {
		case <-time.After(min(o.renew(), time.Until(fence))):
		case <-stop:
			return nil
		}
		if !time.Now().Before(fence) {
			return l.unrenewed()
		}
		if err := l.renew(fence); err != nil {
			return err
		}
	}
}

// renew writes the key once. An error that may pass is none.
func (l *lease) renew(fence time.Time) error {
	limit := time.Now().Add(3 * l.n.o.renew())
	if fence.Before(limit) {
		limit = fence
	}
	ctx, cancel := context.WithDeadline(context.Background(), limit)
	defer cancel()
	begun := time.Now()
	revision, err := l.n.kv.Update(ctx, l.key, l.value, l.revision)
	if err == nil {
		l.revision = revision
		l.confirmed(begun)
		return nil
	}
	if !conflicts(err) {
		return nil // no answer: until the fence we try again
	}
	// Somebody wrote it: we, where only the confirmation was lost, or another node.
	found, revision, err := l.n.owner(ctx, l.key)
	switch {
	case errors.Is(err, jetstream.ErrKeyNotFound):
		return fmt.Errorf("%w: it has expired or was deleted", ErrLeaseLost)
	case err != nil, revision < l.revision:
		return nil // nothing, or what a server that is behind knows
	case found.Nonce != l.nonce:
		return fmt.Errorf("%w: node %q has taken it", ErrLeaseLost, found.Node)
	}
	l.revision = revision
	return nil
}

// release gives the lease up, when the child has ended. If NATS cannot be reached it
// expires by itself.
func (l *lease) release() {
	ctx, cancel := context.WithTimeout(context.Background(), l.n.o.renew())
	defer cancel()
	_ = l.n.kv.Delete(ctx, l.key, jetstream.LastRevision(l.revision))
}
