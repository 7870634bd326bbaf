package invariants

import "fmt"

// Check panics with the formatted text when Enabled is true and ok is false.
// Guard a call whose arguments cost something with "if Enabled". It is safe for
// concurrent use.
func Check(ok bool, format string, args ...any) {
	if Enabled && !ok {
		panic("broken invariant: " + fmt.Sprintf(format, args...))
	}
}

// Poison overwrites b when Enabled is true, so that a view kept beyond its
// lifetime shows rubbish at once instead of another frame's bytes by accident.
// The caller must own b.
func Poison(b []byte) {
	if Enabled {
		for i := range b {
			b[i] = PoisonByte
		}
	}
}

// PoisonByte is what Poison writes. It is no legal byte of UTF-8 text.
const PoisonByte = 0xDB
