package auth

import (
	"context"
	"net/http"
	"strings"
)

// Any is a Verifier that takes whom one of several takes. They are asked in order, and
// the refusal is the last one's. Of none it takes nobody.
type Any []Verifier

var _ Verifier = Any(nil)

// Verify implements Verifier.
func (a Any) Verify(ctx context.Context, r *http.Request) (who Identity, err error) {
	err = challenge(errNoToken)
	for _, v := range a {
		if who, err = v.Verify(ctx, r); err == nil {
			return who, nil
		}
	}
	return Identity{}, err
}

// String implements Verifier.
func (a Any) String() string {
	names := make([]string, len(a))
	for i, v := range a {
		names[i] = v.String()
	}
	return strings.Join(names, "|")
}
