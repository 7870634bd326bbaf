package mcp

import (
	"fmt"
	"net/url"
	"strings"
)

// pattern is a URI template as a matcher: literals with variables between them.
type pattern struct {
	parts []patternPart
}

type patternPart struct {
	literal string // stands before the variable
	name    string // "" behind the last literal
	slashes bool   // the variable takes slashes too
}

// parsePattern reads a template. {name} and {+name} are what it takes of RFC 6570:
// what else that has cannot be told back from a URI without doubt.
func parsePattern(text string) (pattern, error) {
	var p pattern
	for {
		literal, rest, found := strings.Cut(text, "{")
		if strings.Contains(literal, "}") {
			return p, fmt.Errorf("a } without a { in %q", literal)
		}
		if !found {
			p.parts = append(p.parts, patternPart{literal: literal})
			return p, nil
		}
		name, rest, closed := strings.Cut(rest, "}")
		if !closed {
			return p, fmt.Errorf("a { without a } before %q", name)
		}
		part := patternPart{literal: literal}
		part.name, part.slashes = strings.CutPrefix(name, "+")
		if !isVariable(part.name) {
			return p, fmt.Errorf("{%s} is neither {name} nor {+name}", name)
		}
		if n := len(p.parts); n > 0 && literal == "" {
			return p, fmt.Errorf("nothing stands between {%s} and {%s}", p.parts[n-1].name, part.name)
		}
		p.parts = append(p.parts, part)
		text = rest
	}
}

func isVariable(name string) bool {
	if name == "" {
		return false
	}
	for i := range len(name) {
		c := name[i] | 0x20
		if (c < 'a' || c > 'z') && (name[i] < '0' || name[i] > '9') && name[i] != '_' && name[i] != '.' {
			return false
		}
	}
	return true
}

// match reports whether uri is one of the family. Each variable takes as little as
// it can, the last one what is left; visit, if not nil, is told what it took.
func (p pattern) match(uri string, visit func(name, value string)) bool {
	for i, part := range p.parts {
		rest, ok := strings.CutPrefix(uri, part.literal)
		if !ok {
			return false
		}
		if part.name == "" {
			return rest == ""
		}
		end := len(rest)
		if next := p.parts[i+1]; next.literal != "" {
			from := min(1, len(rest)) // a variable takes a byte at least
			if next.name == "" && part.slashes {
				end = strings.LastIndex(rest[from:], next.literal)
			} else {
				end = strings.Index(rest[from:], next.literal)
			}
			if end < 0 {
				return false
			}
			end += from
		}
		value := rest[:end]
		if value == "" || !part.slashes && strings.Contains(value, "/") {
			return false
		}
		if visit != nil {
			if plain, err := url.PathUnescape(value); err == nil {
				value = plain
			}
			visit(part.name, value)
		}
		uri = rest[end:]
	}
	return uri == ""
}
