package node

import (
	"errors"
	"net/http"
	"sync"

	"github.com/correlator-go/correlator/gateway/downstream"
)

// front is what is served at one address over HTTP, through all the times that the file
// is read again. Requests get what is served now; those of a session of the older era get
// the endpoint that it began at, for as long as it lasts.
type front struct {
	mu       sync.Mutex // guards the fields below
	handler  http.Handler
	endpoint *downstream.Endpoint
	before   []*downstream.Endpoint
}

// ServeHTTP implements http.Handler.
func (f *front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	handler, endpoint, before := f.handler, f.endpoint, f.before
	f.mu.Unlock()
	for _, old := range before {
		if !old.Has(r) {
			continue
		}
		if endpoint.Admits(w, r) { // by the rules of now
			old.ServeHTTP(w, r)
		}
		return
	}
	handler.ServeHTTP(w, r)
}

// become serves from now on what next does.
func (f *front) become(next *front) {
	f.mu.Lock()
	var over []*downstream.Endpoint
	kept := []*downstream.Endpoint{f.endpoint}
	for _, old := range f.before {
		if old.IsIdle() {
			over = append(over, old)
		} else {
			kept = append(kept, old)
		}
	}
	f.handler, f.endpoint, f.before = next.handler, next.endpoint, kept
	f.mu.Unlock()
	for _, old := range over {
		_ = old.Close() // nobody is there
	}
}

// close ends all that is served.
func (f *front) close() error {
	f.mu.Lock()
	all := append([]*downstream.Endpoint{f.endpoint}, f.before...)
	f.mu.Unlock()
	var err error
	for _, e := range all {
		err = errors.Join(err, e.Close())
	}
	return err
}
