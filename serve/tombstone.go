package serve

import (
	"time"

	"github.com/correlator-go/correlator/mcp"
)

// tombstones remember handlers that were cancelled before they were started, so
// that a late start does nothing. They are bounded in number and age.
type tombstones struct {
	most  int
	age   time.Duration
	at    map[mcp.InvocationID]time.Time
	order []mcp.InvocationID // oldest first; those taken out of at are skipped
}

// add remembers id.
func (t *tombstones) add(id mcp.InvocationID, now time.Time) {
	if t.at == nil {
		t.at = make(map[mcp.InvocationID]time.Time)
	}
	t.expire(now)
	for len(t.order) >= t.most {
		t.dropOldest()
	}
	if _, ok := t.at[id]; !ok {
		t.order = append(t.order, id)
	}
	t.at[id] = now
}

// take reports whether id is remembered, and forgets it.
func (t *tombstones) take(id mcp.InvocationID, now time.Time) bool {
	if len(t.at) == 0 {
		return false
	}
	t.expire(now)
	_, ok := t.at[id]
	delete(t.at, id)
	return ok
}

func (t *tombstones) expire(now time.Time) {
	for len(t.order) > 0 {
		if at, ok := t.at[t.order[0]]; ok && now.Sub(at) < t.age {
			return
		}
		t.dropOldest()
	}
}

func (t *tombstones) dropOldest() {
	delete(t.at, t.order[0])
	t.order = t.order[1:]
}
