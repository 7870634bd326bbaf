package client

import "sync"

// Eras remembers which peers are of the older era, so that Connect need not ask
// them again, which costs up to Options.ProbeTimeout with a server that leaves
// unknown requests unanswered. A peer is a command with its arguments, an address
// or a URL. What is remembered is not trusted: a server that fails initialize is
// asked after all. The zero value is empty and ready; it is safe for concurrent
// use.
type Eras struct {
	mu     sync.Mutex
	legacy map[string]struct{}
}

// MaxEras is how many peers an Eras remembers. When there are more, it forgets
// them all and learns anew.
const MaxEras = 4096

// sharedEras is that of clients whose options bring none.
var sharedEras Eras

// isLegacy reports whether peer was of the older era when last heard of.
func (e *Eras) isLegacy(peer string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	_, ok := e.legacy[peer]
	return ok
}

// learn remembers what peer is.
func (e *Eras) learn(peer string, legacy bool) {
	if peer == "" {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if !legacy {
		delete(e.legacy, peer)
		return
	}
	if e.legacy == nil || len(e.legacy) >= MaxEras {
		e.legacy = map[string]struct{}{}
	}
	e.legacy[peer] = struct{}{}
}

// Forget makes e know nothing.
func (e *Eras) Forget() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.legacy = nil
}
