package lsp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/correlator-go/correlator/codec"
)

// tokenPrefix begins the tokens that calls bring, so that those of calls that ended are
// told from what the server or the program made up.
const tokenPrefix = "correlator-call-"

// The members that carry tokens: LSP 3.17, WorkDoneProgressParams and
// PartialResultParams.
const (
	memberWorkDone = "workDoneToken"
	memberPartial  = "partialResultToken"
)

// newToken makes a token that no call of this client had before.
func (s *streams) newToken() string {
	return tokenPrefix + strconv.FormatUint(s.last.Add(1), 10)
}

// ours reports whether a call of this client, perhaps an ended one, had the token.
func ours(token string) bool { return strings.HasPrefix(token, tokenPrefix) }

// withToken puts a token into params, which must not have one.
func withToken(params []byte, member, token string) ([]byte, error) {
	if params != nil {
		var members map[string]json.RawMessage
		if err := codec.DecodeValue(params, &members); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrToken, err)
		}
		if _, ok := members[member]; ok {
			return nil, fmt.Errorf("%w: params have a %s", ErrToken, member)
		}
	}
	return withMember(params, member, fmt.Appendf(nil, "%q", token))
}

// withMember is object, which may be absent, with one more member, its first. It has
// no member of that name. Only the beginning of it is looked at.
func withMember(object []byte, name string, value []byte) ([]byte, error) {
	rest := []byte("}")
	if object != nil {
		inside, ok := bytes.CutPrefix(bytes.TrimLeft(object, " \t\r\n"), []byte("{"))
		if !ok {
			return nil, fmt.Errorf("%w: params are no object", ErrToken)
		}
		rest = inside
	}
	out := make([]byte, 0, len(name)+len(value)+len(rest)+5)
	out = append(out, `{"`...)
	out = append(append(out, name...), `":`...)
	out = append(out, value...)
	if !bytes.HasPrefix(bytes.TrimLeft(rest, " \t\r\n"), []byte("}")) {
		out = append(out, ',')
	}
	return append(out, rest...), nil
}
