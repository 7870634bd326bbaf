package merge

import "strings"

// Separator stands between a prefix and a name.
const Separator = "__"

// Name is a name under a prefix.
type Name struct {
	// Upstream is the prefix, Rest the name as its server knows it.
	Upstream, Rest string
}

// String is the name as clients know it.
func (n Name) String() string { return n.Upstream + Separator + n.Rest }

// Cut takes a client's name apart. The prefix ends at the first Separator, so a name
// of a server may hold others; prefixes themselves must not. ok is false without one.
func Cut(name string) (n Name, ok bool) {
	n.Upstream, n.Rest, ok = strings.Cut(name, Separator)
	return n, ok && n.Upstream != "" && n.Rest != ""
}
