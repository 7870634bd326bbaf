package mcp

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"slices"
	"strings"
)

// What the server gives a client to give back, cursors and request states, is its
// payload and a tag over the payload, the family of its uses and the caller. So it
// is good for nothing else and for nobody else, and needs no memory here.
const tagSize = 16

// seal makes the token of payload.
func (s *Server) seal(payload []byte, family, principal string, digest []byte) string {
	text := s.tag(slices.Clone(payload), payload, family, principal, digest)
	return base64.RawURLEncoding.EncodeToString(text)
}

// unseal gives the payload of a token, false if it is not one of ours.
func (s *Server) unseal(token []byte, family, principal string, digest []byte) ([]byte, bool) {
	text := make([]byte, base64.RawURLEncoding.DecodedLen(len(token)))
	// One token has one text: the decoder passes over line ends, and unless it is
	// strict, over bits that say nothing.
	n, err := base64.RawURLEncoding.Strict().Decode(text, token)
	if err != nil || n < tagSize || bytes.ContainsAny(token, "\r\n") {
		return nil, false
	}
	payload, tag := text[:n-tagSize], text[n-tagSize:n]
	return payload, hmac.Equal(tag, s.tag(nil, payload, family, principal, digest))
}

func (s *Server) tag(dst, payload []byte, family, principal string, digest []byte) []byte {
	mac := hmac.New(sha256.New, s.key)
	// Each part with its length before it, so that no two lists of parts are one
	// text.
	var length [8]byte
	for _, part := range [][]byte{[]byte(family), []byte(principal), digest, payload} {
		binary.BigEndian.PutUint64(length[:], uint64(len(part)))
		mac.Write(length[:])
		mac.Write(part)
	}
	return append(dst, mac.Sum(nil)[:tagSize]...)
}

// maxOffset bounds the offset in a cursor.
const maxOffset = 1_000_000_000

// cursor is the token of a place in the list of a method.
func (s *Server) cursor(method string, caller Caller, offset int) string {
	return s.seal(binary.BigEndian.AppendUint64(nil, uint64(offset)), method, caller.Principal, nil)
}

func (s *Server) offset(method string, caller Caller, cursor []byte) (int, bool) {
	payload, ok := s.unseal(cursor, method, caller.Principal, nil)
	if !ok || len(payload) != 8 {
		return 0, false
	}
	offset := binary.BigEndian.Uint64(payload)
	return int(offset), offset <= maxOffset
}

const roundHeader = 2 + 8

// sealRound makes the request state of v's next round.
func (s *Server) sealRound(v *Invocation, state string) string {
	payload := binary.BigEndian.AppendUint16(nil, uint16(v.Round()+1))
	payload = binary.BigEndian.AppendUint64(payload, uint64(v.at))
	payload = append(payload, state...)
	return s.seal(payload, v.family(), v.caller.Principal, v.digest())
}

// unsealRound reads the request state that v came with.
func (s *Server) unsealRound(v *Invocation, token []byte) *round {
	payload, ok := s.unseal(token, v.family(), v.caller.Principal, v.digest())
	if !ok || len(payload) < roundHeader {
		return nil
	}
	r := &round{
		number: int(binary.BigEndian.Uint16(payload)),
		issued: int64(binary.BigEndian.Uint64(payload[2:])),
		state:  string(payload[roundHeader:]),
	}
	if s.stateTTL >= 0 && v.at != 0 && r.issued != 0 && v.at-r.issued > s.stateTTL {
		return nil
	}
	return r
}

// family separates request states by what they are for.
func (v *Invocation) family() string {
	if name := v.Tool(); name != "" {
		return "input:" + name
	}
	return "input:" + v.Method() + ":" + v.Name()
}

// digest is that of the request's arguments, however they are written: a client
// that sends the same request again may encode it again.
func (v *Invocation) digest() []byte {
	text := []byte(v.Arguments())
	var value any
	d := json.NewDecoder(strings.NewReader(string(text)))
	d.UseNumber()
	if d.Decode(&value) == nil {
		if canonical, err := json.Marshal(value); err == nil { // sorts the keys
			text = canonical
		}
	}
	sum := sha256.Sum256(text)
	return sum[:]
}
