package config

import (
	"fmt"
	"strings"
)

// Mistake is one thing that is wrong in a file, and where.
type Mistake struct {
	// File is the name that Parse or Check was given, Line counts from 1; 0 is not known.
	File string
	Line int
	// Path is the member, such as upstreams.files.command; Problem says what is wrong.
	Path, Problem string
}

// Error is one line: file:line: path: problem.
func (m *Mistake) Error() string {
	at := m.File
	if m.Line > 0 {
		at = fmt.Sprintf("%s:%d", at, m.Line)
	}
	if m.Path != "" {
		at += ": " + m.Path
	}
	return at + ": " + m.Problem
}

// Mistakes are all that Parse found, in the order of the file.
type Mistakes []*Mistake

// Error is a line for each.
func (m Mistakes) Error() string {
	lines := make([]string, len(m))
	for i, one := range m {
		lines[i] = one.Error()
	}
	return strings.Join(lines, "\n")
}

// Mistake says what is wrong with the member at path, for those who find out later
// than Parse: a file that it names cannot be read, for example.
func (c *Config) Mistake(path, problem string) *Mistake {
	return &Mistake{File: c.file, Line: lineOf(c.lines, path), Path: path, Problem: problem}
}

// lineOf is the line of path, or of the nearest member around it.
func lineOf(lines map[string]int, path string) int {
	if len(lines) == 0 {
		return 0
	}
	for {
		if n, ok := lines[path]; ok {
			return n
		}
		i := strings.LastIndexAny(path, ".[")
		if i < 0 {
			return max(lines[""], 1)
		}
		path = path[:i]
	}
}
