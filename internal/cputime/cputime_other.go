//go:build !unix && !windows

package cputime

import "time"

// Used is not known here.
func Used() (time.Duration, bool) { return 0, false }
