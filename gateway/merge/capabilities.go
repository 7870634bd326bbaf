package merge

import (
	"encoding/json"

	"github.com/correlator-go/correlator/codec"
)

// Capabilities appends what several servers can do, as one object: a member stands
// there if one of them has it, and what is a truth in one of them is a truth.
func Capabilities(dst []byte, each ...[]byte) []byte {
	all := map[string]any{}
	for _, text := range each {
		var one map[string]any
		if json.Unmarshal(text, &one) == nil {
			unite(all, one)
		}
	}
	out, err := codec.AppendValue(dst, all)
	if err != nil {
		return append(dst, "{}"...)
	}
	return out
}

func unite(all, one map[string]any) {
	for name, v := range one {
		was, ok := all[name]
		a, isA := was.(map[string]any)
		b, isB := v.(map[string]any)
		switch {
		case ok && isA && isB:
			unite(a, b)
		case !ok || was == false:
			all[name] = v
		}
	}
}

// Match reports whether a URI can be one of a template: the literal text before the
// template's first expression begins it, and that after the last one ends it.
func Match(template, uri string) bool {
	first, last := -1, -1
	for i := range len(template) {
		switch template[i] {
		case '{':
			if first < 0 {
				first = i
			}
		case '}':
			last = i
		}
	}
	if first < 0 || last < first {
		return template == uri
	}
	head, tail := template[:first], template[last+1:]
	return len(uri) >= len(head)+len(tail) && uri[:len(head)] == head && uri[len(uri)-len(tail):] == tail
}
