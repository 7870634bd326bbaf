package route

import (
	"hash/maphash"
	"sync"

	"github.com/correlator-go/correlator/codec"
)

// Key names one request of one client.
type Key struct {
	// Client is its session's number, ID the request's as a value: how it is written
	// makes no difference.
	Client uint64
	ID     codec.ID
}

// Table finds a client's request in flight by its id: one table for all clients. It
// is safe for concurrent use. No lock is held when a method has returned.
type Table[V any] struct {
	seed   uint64
	shards [tableShards]shard[V]
}

const tableShards = 64

type shard[V any] struct {
	mu   sync.Mutex // guards m and peak
	m    map[Key]V
	peak int // the most entries that m had since it was made
}

// shardKeep is up to how many entries a map may have had to be kept when it is empty:
// a map stays as large as it once was.
const shardKeep = 256

// NewTable makes an empty table.
func NewTable[V any]() *Table[V] {
	return &Table[V]{seed: maphash.Comparable(maphash.MakeSeed(), 0)}
}

func (t *Table[V]) shard(k Key) *shard[V] {
	return &t.shards[k.ID.Hash(t.seed^k.Client*0x9e3779b97f4a7c15)%tableShards]
}

// Add enters a request; false says that one of this client with this id is in
// flight, which stays untouched.
func (t *Table[V]) Add(k Key, v V) bool {
	s := t.shard(k)
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.m[k]; ok {
		return false
	}
	if s.m == nil {
		s.m = make(map[Key]V)
	}
	s.m[k] = v
	s.peak = max(s.peak, len(s.m))
	return true
}

// Find gives the request in flight.
func (t *Table[V]) Find(k Key) (v V, ok bool) {
	s := t.shard(k)
	s.mu.Lock()
	defer s.mu.Unlock()
	v, ok = s.m[k]
	return v, ok
}

// Remove forgets a request.
func (t *Table[V]) Remove(k Key) {
	s := t.shard(k)
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.m, k)
	if len(s.m) == 0 && s.peak > shardKeep {
		s.m, s.peak = nil, 0
	}
}

// Len is how many requests are in flight. It visits every shard.
func (t *Table[V]) Len() int {
	n := 0
	for i := range t.shards {
		s := &t.shards[i]
		s.mu.Lock()
		n += len(s.m)
		s.mu.Unlock()
	}
	return n
}
