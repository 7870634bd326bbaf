package page

import (
	"fmt"
	"strings"
)

const (
	opening = "<!-- "
	closing = " -->"
	last    = "<!-- end -->"
)

// Fill returns the new content of the block with the given argument, without the
// newline at its end. With ok false the block stays as it is.
type Fill func(arg string) (content string, ok bool, err error)

// Replace returns text with the blocks of the given kind filled, in order. The
// first error of fill ends it, and so does a block that lacks its end; the text
// that comes with an error is the unchanged one.
func Replace(text, kind string, fill Fill) (string, error) {
	var (
		out   strings.Builder
		lines = strings.SplitAfter(text, "\n")
	)
	for i := 0; i < len(lines); i++ {
		out.WriteString(lines[i])
		arg, ok := begins(lines[i], kind)
		if !ok {
			continue
		}
		end := i + 1
		for ; end < len(lines) && strings.TrimSpace(lines[end]) != last; end++ {
			if strings.HasPrefix(lines[end], opening) {
				break
			}
		}
		if end == len(lines) || strings.TrimSpace(lines[end]) != last {
			return text, fmt.Errorf("line %d: block %q lacks its %s", i+1, kind, last)
		}
		content, ok, err := fill(arg)
		if err != nil {
			return text, fmt.Errorf("line %d: block %q: %w", i+1, kind, err)
		}
		if !ok {
			content = strings.TrimSuffix(strings.Join(lines[i+1:end], ""), "\n")
		}
		if content != "" {
			out.WriteString(content)
			out.WriteString("\n")
		}
		i = end - 1
	}
	return out.String(), nil
}

// begins reports whether a block of the kind begins with the line, and its
// argument.
func begins(line, kind string) (arg string, ok bool) {
	inner, ok := strings.CutPrefix(strings.TrimSpace(line), opening)
	if !ok {
		return "", false
	}
	inner, ok = strings.CutSuffix(inner, closing)
	if !ok {
		return "", false
	}
	name, arg, _ := strings.Cut(inner, ": ")
	return arg, name == kind
}
