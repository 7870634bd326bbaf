package auth

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/correlator-go/correlator/serve"
)

// maxToken is the longest credential that is looked at, in bytes.
const maxToken = 16 << 10

// errNoToken says that a request brought none.
var errNoToken = errors.New("auth: no bearer token")

// bearer is the token of a request: of its one Authorization header, and of nowhere else,
// since addresses end up in logs.
func bearer(r *http.Request) (string, error) {
	lines := r.Header.Values("Authorization")
	if len(lines) == 0 {
		return "", errNoToken
	}
	scheme, token, _ := strings.Cut(lines[0], " ")
	token = strings.TrimLeft(token, " ")
	if len(lines) > 1 || !strings.EqualFold(scheme, "Bearer") || token == "" || len(token) > maxToken {
		return "", errors.New("auth: not one bearer token")
	}
	return token, nil
}

// challenge refuses a request as RFC 6750 wants it. Which part of the credentials was
// wrong is not said. extra is further parameters, each followed by nothing.
func challenge(err error, extra ...string) error {
	e := &serve.HTTPError{Status: http.StatusUnauthorized, Text: "the token is not good here"}
	var params []string
	if errors.Is(err, errNoToken) {
		e.Text = "a bearer token is wanted"
	} else {
		params = append(params, `error="invalid_token"`)
	}
	e.Challenge = "Bearer"
	if params = append(params, extra...); len(params) > 0 {
		e.Challenge += " " + strings.Join(params, ", ")
	}
	return e
}

// hashScheme is what every hash in a file begins with.
const hashScheme = "sha256:"

// tokenBytes is how much randomness a new token has.
const tokenBytes = 32

// NewToken makes a token to be given to a client, and its hash to be kept.
func NewToken() (token, hash string) {
	var b [tokenBytes]byte
	_, _ = rand.Read(b[:]) // never fails
	token = "gw_" + hex.EncodeToString(b[:])
	return token, HashToken(token)
}

// HashToken is what is kept of a token: "sha256:" and 64 hex digits. It is for tokens of
// high entropy, as NewToken makes them; a password would be guessed from it.
func HashToken(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hashScheme + hex.EncodeToString(sum[:])
}

// Token is one client that may come.
type Token struct {
	// Name is the identity. It must not be empty nor hold a "#", and may stand twice,
	// while a token is being replaced for example.
	Name string
	// Hash is what HashToken gives.
	Hash string
	// Scopes are given to the identity.
	Scopes []string
}

// Tokens is a Verifier of bearer tokens whose hashes are known.
type Tokens struct {
	known []known
}

type known struct {
	identity Identity
	sum      [sha256.Size]byte
}

var _ Verifier = (*Tokens)(nil)

// NewTokens makes one. The error names the token that is wrong, by its place and name.
func NewTokens(tokens []Token) (*Tokens, error) {
	t := &Tokens{}
	for i, k := range tokens {
		text, ok := strings.CutPrefix(k.Hash, hashScheme)
		sum, err := hex.DecodeString(text)
		switch {
		case k.Name == "" || strings.Contains(k.Name, "#"):
			return nil, fmt.Errorf("auth: token %d: %q is no name", i, k.Name)
		case !ok || err != nil || len(sum) != sha256.Size:
			return nil, fmt.Errorf("auth: token %d, %s: the hash is not %q and 64 hex digits", i, k.Name, hashScheme)
		}
		t.known = append(t.known, known{Identity{Name: k.Name, Scopes: k.Scopes}, [sha256.Size]byte(sum)})
	}
	return t, nil
}

// Verify implements Verifier. How long it takes does not depend on what is shown, nor on
// whose it is.
func (t *Tokens) Verify(_ context.Context, r *http.Request) (Identity, error) {
	token, err := bearer(r)
	if err != nil {
		return Identity{}, challenge(err)
	}
	sum := sha256.Sum256([]byte(token))
	found := -1
	for i := range t.known {
		same := subtle.ConstantTimeCompare(sum[:], t.known[i].sum[:])
		found = subtle.ConstantTimeSelect(same, i, found)
	}
	if found < 0 {
		return Identity{}, challenge(errors.New("auth: unknown token"))
	}
	return t.known[found].identity, nil
}

// String implements Verifier.
func (t *Tokens) String() string { return "tokens" }
