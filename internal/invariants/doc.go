// Package invariants holds the switch for checks that are too dear for
// production: build with the tag "invariants" and every named invariant of the
// other packages is proved while it runs, released buffers are poisoned and a
// double release panics.
//
// Without the tag, Enabled is a false constant, so a guarded check compiles to
// nothing:
//
//	if invariants.Enabled {
//		invariants.Check(n >= 0, "I3: %d pending", n)
//	}
package invariants
