package mcp

import (
	"bytes"
	"strings"

	"github.com/correlator-go/correlator/codec"
)

// Trace is the trace context of a request, by W3C Trace Context: what stood in
// _meta, checked. The zero value is none.
type Trace struct {
	Parent string // traceparent
	State  string // tracestate; "" without one
}

// Trace reads the request's trace context. A malformed traceparent makes it none; a
// malformed tracestate is dropped and the parent kept. The raw members are in
// Params, baggage too.
func (v *Invocation) Trace() Trace {
	parent, ok := stringOf(v.metaMember(func(m *metaText) codec.Span { return m.traceParent }))
	if !ok || !isTraceParent(parent) {
		return Trace{}
	}
	t := Trace{Parent: string(parent)}
	if state, ok := stringOf(v.metaMember(func(m *metaText) codec.Span { return m.traceState })); ok && isTraceState(string(state)) {
		t.State = string(state)
	}
	return t
}

const (
	parentSize = len("00-0123456789abcdef0123456789abcdef-0123456789abcdef-01")
	maxTrace   = 512
)

// isTraceParent checks version, trace id, parent id and flags. Version 00 ends
// there, later ones may go on behind a hyphen, ff is none.
func isTraceParent(b []byte) bool {
	if len(b) < parentSize || len(b) > maxTrace || b[2] != '-' || b[35] != '-' || b[52] != '-' {
		return false
	}
	for i, c := range b[:parentSize] {
		if i == 2 || i == 35 || i == 52 {
			continue
		}
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	version, rest := string(b[:2]), b[parentSize:]
	if version == "ff" || allZero(b[3:35]) || allZero(b[36:52]) {
		return false
	}
	if len(rest) == 0 {
		return true
	}
	if version == "00" || rest[0] != '-' {
		return false
	}
	return bytes.IndexFunc(rest, func(r rune) bool { return r <= ' ' || r >= 0x7f }) < 0
}

func allZero(b []byte) bool { return len(bytes.Trim(b, "0")) == 0 }

const maxTraceMembers = 32

// isTraceState checks the list of W3C Trace Context level 2, 3.3.
func isTraceState(s string) bool {
	if len(s) > maxTrace {
		return false
	}
	seen := make(map[string]bool)
	for entry := range strings.SplitSeq(s, ",") {
		entry = strings.Trim(entry, " \t")
		if entry == "" {
			continue
		}
		key, value, ok := strings.Cut(entry, "=")
		if !ok || !isTraceKey(key) || !isTraceValue(value) || seen[key] {
			return false
		}
		if seen[key] = true; len(seen) > maxTraceMembers {
			return false
		}
	}
	return len(seen) > 0
}

// isTraceKey: a lower-case letter or a digit, then up to 255 of those and _-*/@.
func isTraceKey(key string) bool {
	if len(key) == 0 || len(key) > 256 {
		return false
	}
	for i := range len(key) {
		c := key[i]
		if c >= 'a' && c <= 'z' || c >= '0' && c <= '9' {
			continue
		}
		if i == 0 || strings.IndexByte("_-*/@", c) < 0 {
			return false
		}
	}
	return true
}

// isTraceValue: 1 to 256 printable bytes but comma and equals sign, no space last.
func isTraceValue(value string) bool {
	if len(value) == 0 || len(value) > 256 || value[len(value)-1] == ' ' {
		return false
	}
	for i := range len(value) {
		if c := value[i]; c < ' ' || c > '~' || c == ',' || c == '=' {
			return false
		}
	}
	return true
}
