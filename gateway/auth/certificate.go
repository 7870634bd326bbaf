package auth

import (
	"context"
	"net/http"

	"github.com/correlator-go/correlator/serve"
)

// Certificates is a Verifier of clients that show a certificate, which the TLS listener
// has verified against its client authorities.
type Certificates struct{}

var _ Verifier = Certificates{}

// Verify implements Verifier. The identity is "cert#" and the subject, as RFC 2253 has it.
func (Certificates) Verify(_ context.Context, r *http.Request) (Identity, error) {
	if r.TLS == nil || len(r.TLS.VerifiedChains) == 0 || len(r.TLS.VerifiedChains[0]) == 0 {
		return Identity{}, &serve.HTTPError{Status: http.StatusUnauthorized, Text: "a client certificate is wanted"}
	}
	subject := r.TLS.VerifiedChains[0][0].Subject.String()
	if subject == "" {
		return Identity{}, &serve.HTTPError{Status: http.StatusForbidden, Text: "the certificate names nobody"}
	}
	return Identity{Name: "cert#" + subject}, nil
}

// String implements Verifier.
func (Certificates) String() string { return "certificates" }
