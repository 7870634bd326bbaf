package conn

import (
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/correlator-go/correlator/codec"
)

// feeds finds the feed of a call. Only calls that have one pay for it.
type feeds struct {
	count atomic.Int32 // of live, so that who finds 0 need not lock

	mu   sync.Mutex // protects the fields below; taken before a feed's own
	live map[int64]*feed
	// retired remembers calls that had a feed and ended: a table in which an id
	// has one place, where the next id to fall on it takes over.
	retired []retiredFeed
}

type retiredFeed struct {
	id    int64
	quiet bool
}

// retiredIDs bounds the memory for telling late progress from unknown: 8 KiB of a
// connection with feeds. Progress that comes later than 512 such calls after its
// own ended is counted as unknown. Whether a cancel is kept from the peer hangs on
// it too, but that is asked in the moment of the end.
const retiredIDs = 512

// add makes f known, unless its call has settled already.
func (s *feeds) add(id codec.ID, f *feed) {
	key, _ := id.Int()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.live == nil {
		s.live = make(map[int64]*feed)
		s.retired = make([]retiredFeed, retiredIDs)
	}
	f.mu.Lock()
	over := f.over
	f.mu.Unlock()
	if over {
		s.retireLocked(key, f)
		return
	}
	s.live[key] = f
	s.count.Store(int32(len(s.live)))
}

// answered closes the feed of a call whose answer is at hand, before the answer
// settles it: what the peer sends after that is late.
func (s *feeds) answered(id codec.ID) {
	if s.count.Load() == 0 {
		return
	}
	key, ok := id.Int()
	if !ok { // a peer that echoes 7 as "7"
		n, err := strconv.ParseInt(id.Text(), 10, 64)
		if err != nil {
			return
		}
		key = n
	}
	if f, _ := s.find(key); f != nil {
		f.close()
	}
}

func (s *feeds) remove(id int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f, ok := s.live[id]; ok {
		delete(s.live, id)
		s.count.Store(int32(len(s.live)))
		s.retireLocked(id, f)
	}
}

func (s *feeds) retireLocked(id int64, f *feed) {
	s.retired[retiredPlace(id)] = retiredFeed{id, f.quiet}
}

func retiredPlace(id int64) uint64 { return uint64(id) * 0x9e3779b97f4a7c15 >> 55 }

// quiet reports whether the peer must not hear that the call ended. Its caller
// may have seen the end already and removed the feed.
func (s *feeds) quiet(id int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.live == nil {
		return false
	}
	if f := s.live[id]; f != nil {
		return f.quiet
	}
	old := s.retired[retiredPlace(id)]
	return old.id == id && old.quiet
}

// find gives the feed of a pending call, and whether the call is known to have
// ended.
func (s *feeds) find(id int64) (f *feed, late bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.live == nil {
		return nil, false
	}
	// No call has the id 0, which an empty place of retired names.
	return s.live[id], id != 0 && s.retired[retiredPlace(id)].id == id
}
