// Package arch holds the architecture as tests: which package may import which,
// which packages are pure, and the rules of style that a parser can check. What it has
// of its own is the reading of a module's files, which other modules use for theirs.
package arch
