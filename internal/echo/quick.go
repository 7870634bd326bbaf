package echo

import "bytes"

// The beginnings of a request as most clients write it, ours among them.
var (
	quickID     = []byte(`{"jsonrpc":"2.0","id":`)
	quickMethod = []byte(`,"method":"`)
	quickParams = []byte(`,"params":`)
)

// quick finds id and params of a request whose members stand in the usual order,
// without spaces between them, with an integer id and a method that is not
// escaped; it is several times as fast as a scan. What looks otherwise is not ok
// and must be scanned. params is nil when absent.
//
// Nothing behind the beginning of params is looked at but the frame's end: the
// bytes come back as they are, and whoever sent them may judge them. A member
// behind params comes back with them.
func quick(frame []byte) (id, method, params []byte, ok bool) {
	rest, ok := bytes.CutPrefix(frame, quickID)
	if !ok {
		return nil, nil, nil, false
	}
	n := 0
	for n < len(rest) && (rest[n]-'0' < 10 || n == 0 && rest[n] == '-') {
		n++
	}
	id = rest[:n]
	if rest, ok = bytes.CutPrefix(rest[n:], quickMethod); !ok || n == 0 {
		return nil, nil, nil, false
	}
	n = bytes.IndexByte(rest, '"')
	if n < 0 || bytes.IndexByte(rest[:n], '\\') >= 0 {
		return nil, nil, nil, false
	}
	method, rest = rest[:n], rest[n+1:]
	if len(rest) == 1 && rest[0] == '}' {
		return id, method, nil, true
	}
	rest, ok = bytes.CutPrefix(rest, quickParams)
	if last := len(rest) - 2; ok && last > 0 && encloses(rest[0], rest[last]) && rest[last+1] == '}' {
		return id, method, rest[:last+1], true
	}
	return nil, nil, nil, false
}

// encloses reports whether an object, an array or a string may begin and end so.
func encloses(first, last byte) bool {
	return first == '{' && last == '}' || first == '[' && last == ']' || first == '"' && last == '"'
}
