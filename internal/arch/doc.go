// Package arch holds the architecture as tests: which package may import which,
// which packages are pure, and the rules of style that a parser can check. It
// has no code of its own.
package arch
