//go:build !invariants

package invariants

// Enabled reports whether the binary was built with the tag "invariants".
const Enabled = false
