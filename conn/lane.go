package conn

import "sync"

// lane runs handlers in the order of arrival, at most limit at a time. Its
// goroutines live while there is work: an idle connection has none.
//
//	none ──put──▶ running ──take, nothing there──▶ none
type lane struct {
	limit int
	most  int   // how many may wait
	bytes int64 // that their frames may have together
	serve func(*Inbound)

	mu      sync.Mutex // protects the fields below
	waiting []*Inbound
	first   int   // waiting[:first] is gone
	size    int64 // of the frames of those that wait
	running int
}

// put runs r now or later; false says that too many wait.
func (l *lane) put(r *Inbound) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.running < l.limit {
		l.running++
		go l.run(r)
		return true
	}
	waits := len(l.waiting) - l.first
	if waits >= l.most || waits > 0 && l.size+int64(r.size) > l.bytes {
		return false
	}
	l.waiting = append(l.waiting, r)
	l.size += int64(r.size)
	return true
}

func (l *lane) run(r *Inbound) {
	left := true
	defer func() {
		if left { // a handler ended this goroutine, not what waits for it
			if r := l.take(); r != nil {
				go l.run(r)
			}
		}
	}()
	for r != nil {
		l.serve(r)
		r = l.take()
	}
	left = false
}

func (l *lane) take() *Inbound {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.first == len(l.waiting) {
		l.running--
		l.waiting, l.first = nil, 0
		return nil
	}
	r := l.waiting[l.first]
	l.waiting[l.first] = nil
	l.first++
	l.size -= int64(r.size)
	if l.first >= 64 && l.first*2 >= len(l.waiting) {
		// Close the gap, so that a queue that never runs dry stays small.
		n := copy(l.waiting, l.waiting[l.first:])
		clear(l.waiting[n:])
		l.waiting, l.first = l.waiting[:n], 0
	}
	return r
}
