package auth

import (
	"context"
	"net/http"
)

// Identity is who a client proved to be.
type Identity struct {
	// Name tells identities apart; it is what isolation and logs go by. "" is nobody.
	Name string
	// Scopes are what it may do, where the verifier knows.
	Scopes []string
}

// Verifier checks credentials. Its methods may be called by many goroutines.
type Verifier interface {
	// Verify says who sent r. An error refuses it: a *serve.HTTPError chooses the
	// status and the challenge, any other is 401. It must not say which part of the
	// credentials was wrong, nor hold them.
	Verify(ctx context.Context, r *http.Request) (Identity, error)
	// String names the verifier in logs.
	String() string
}
