//go:build !amd64 || correlator_portable

package vector

import "unicode/utf8"

// Available reports whether the processor has what the assembly needs: here not.
func Available() bool { return false }

func classifyBlocks([]byte, *State, []Masks)                { panic("vector: no assembly") }
func textBlocks([]byte) (int, bool)                         { panic("vector: no assembly") }
func lineEndBlocks([]byte, int) int                         { panic("vector: no assembly") }
func crossFast(b []byte, n, deepest int, s *crossState) int { panic("vector: no assembly") }

// ValidUTF8 reports whether b is UTF-8.
func ValidUTF8(b []byte) bool { return utf8.Valid(b) }
