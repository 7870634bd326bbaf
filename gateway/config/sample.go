package config

import (
	_ "embed" // the sample
	"strings"
)

// Sample is what gateway init writes: a file that works, with everything else in
// comments.
//
//go:embed sample.yaml
var Sample string

// Uncomment makes members of the sample's comments: lines that begin with "#:".
func Uncomment(sample string) string {
	lines := strings.Split(sample, "\n")
	for i, line := range lines {
		before, after, found := strings.Cut(line, "#:")
		if found && strings.TrimSpace(before) == "" {
			lines[i] = before + after
		}
	}
	return strings.Join(lines, "\n")
}
