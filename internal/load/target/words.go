package target

import (
	"errors"
	"strings"
)

var (
	errQuote   = errors.New("a quote is not closed")
	errNoWords = errors.New("no command")
)

// escapable is what a backslash takes the meaning from, by the quote around it.
var escapable = map[rune]string{0: " \t'\"\\", '"': "\"\\"}

// Words splits a command line at spaces as a shell does for the simple cases:
// single and double quotes keep spaces, and a backslash takes the meaning from a
// space, a quote or a backslash after it (inside double quotes from a double
// quote or a backslash); before anything else it is itself, as in a path of
// Windows. Nothing is expanded.
func Words(line string) ([]string, error) {
	var (
		out   []string
		word  strings.Builder
		begun bool
		quote rune
	)
	runes := []rune(line)
	for i := 0; i < len(runes); i++ {
		r := runes[i]
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case r == '\\' && i+1 < len(runes) && strings.ContainsRune(escapable[quote], runes[i+1]):
			i++
			word.WriteRune(runes[i])
			begun = true
		case quote == 0 && (r == '\'' || r == '"'):
			quote, begun = r, true
		case quote == 0 && (r == ' ' || r == '\t'):
			if begun {
				out = append(out, word.String())
				word.Reset()
				begun = false
			}
		default:
			word.WriteRune(r)
			begun = true
		}
	}
	if quote != 0 {
		return nil, errQuote
	}
	if begun {
		out = append(out, word.String())
	}
	if len(out) == 0 || out[0] == "" {
		return nil, errNoWords
	}
	return out, nil
}
