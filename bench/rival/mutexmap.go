package rival

import "sync"

// MutexMap is a map under a mutex: the bare table, without waiting or deadlines.
type MutexMap struct {
	mu      sync.Mutex
	pending map[int64]*NaiveCall
}

// NewMutexMap returns an empty table.
func NewMutexMap() *MutexMap { return &MutexMap{pending: map[int64]*NaiveCall{}} }

// Put registers a call.
func (m *MutexMap) Put(id int64, c *NaiveCall) {
	m.mu.Lock()
	m.pending[id] = c
	m.mu.Unlock()
}

// Take removes a call and returns it, nil when there is none.
func (m *MutexMap) Take(id int64) *NaiveCall {
	m.mu.Lock()
	c := m.pending[id]
	delete(m.pending, id)
	m.mu.Unlock()
	return c
}
