package codec

import (
	"errors"
	"slices"
)

// ErrNotObject is wrapped by the *SyntaxError of [AppendParamsWithToken] for
// params, or a _meta in them, that can hold no member.
var ErrNotObject = errors.New("codec: not an object")

const (
	metaKey  = `"_meta":`
	tokenKey = `"progressToken":`
)

// AppendParamsWithToken appends params to dst with token as their member
// _meta.progressToken: in the place of the one that stood there, or inserted,
// with _meta where that is missing too. All other bytes are as they were. Params
// that are nil, empty or null, and a _meta that is null, count as missing. An
// absent token is a misuse that panics. dst must not overlap params.
//
// Its error is a *SyntaxError, and dst is returned as it was: params are no valid
// JSON, are no object or have a _meta that is none (ErrNotObject), or have one of
// the two members twice (ErrDuplicateMember).
func AppendParamsWithToken(dst, params []byte, token ID) ([]byte, error) {
	if token.IsAbsent() {
		panic("codec: AppendParamsWithToken without a token")
	}
	var (
		e   Envelope
		s   = scanner{e: &e, maxDepth: DefaultMaxDepth}
		buf [64]byte
	)
	text := buf[:0]
	start := s.space(params, 0)
	if start == len(params) || nullOnly(params[start:]) {
		text = append(text, "{"+metaKey+"{"+tokenKey...)
		return append(append(dst, token.Append(text)...), "}}"...), nil
	}
	meta, end, err := s.member(params, start, "_meta")
	if err == nil && s.space(params, end) < len(params) {
		err = newSyntaxError(errTrailing, end)
	}
	if err != nil {
		return dst, err
	}
	switch {
	case !meta.Present():
		text = append(text, metaKey+"{"+tokenKey...)
		text = append(token.Append(text), '}')
		return insertMember(dst, params, start, text), nil
	case nullOnly(meta.Of(params)):
		text = append(text, "{"+tokenKey...)
		text = append(token.Append(text), '}')
		return AppendSplice(dst, params, Edit{meta, text}), nil
	}
	old, _, err := s.member(params, int(meta.Off), "progressToken")
	switch {
	case err != nil:
		return dst, err
	case !old.Present():
		text = append(text, tokenKey...)
		return insertMember(dst, params, int(meta.Off), token.Append(text)), nil
	}
	return AppendSplice(dst, params, Edit{old, token.Append(text)}), nil
}

// insertMember appends params to dst with member as the first of the valid object
// that begins at params[at].
func insertMember(dst, params []byte, at int, member []byte) []byte {
	at++
	next := at
	for isSpace(params[next]) {
		next++
	}
	dst = append(append(slices.Grow(dst, len(params)+len(member)+1), params[:at]...), member...)
	if params[next] != '}' {
		dst = append(dst, ',')
	}
	return append(dst, params[at:]...)
}

// nullOnly reports whether text is null with nothing but space behind it.
func nullOnly(text []byte) bool {
	return len(text) >= 4 && string(text[:4]) == "null" && blank(text[4:])
}

// member validates the object that begins at b[i], and returns the value of its
// member called name, absent when there is none, and the index behind the object.
func (s *scanner) member(b []byte, i int, name string) (value Span, end int, err error) {
	if b[i] != '{' {
		return Span{}, i, &SyntaxError{Offset: i, Code: CodeInvalidRequest, Problem: "not an object", Err: ErrNotObject}
	}
	if i = s.space(b, i+1); i < len(b) && b[i] == '}' {
		return Span{}, i + 1, nil
	}
	for {
		start, next, p := s.key(b, i)
		if p.bad() {
			return Span{}, i, newSyntaxError(p, next)
		}
		var buf [maxKey + 1]byte
		found := string(plain(b[start:next-1], p, &buf)) == name
		if i, p = s.colon(b, next); p.bad() {
			return Span{}, i, newSyntaxError(p, i)
		}
		i = s.space(b, i)
		if end, p = s.skip(b, i, 1); p.bad() {
			return Span{}, i, newSyntaxError(p, end)
		}
		if found {
			if value.Present() {
				return Span{}, i, newSyntaxError(errDuplicate, start-1)
			}
			value = Span{uint32(i), uint32(end)}
		}
		if i = s.space(b, end); i >= len(b) {
			return Span{}, i, newSyntaxError(errTruncated, i)
		}
		if b[i] == '}' {
			return value, i + 1, nil
		}
		if b[i] != ',' {
			return Span{}, i, newSyntaxError(errObject, i)
		}
		i = s.space(b, i+1)
	}
}
