//go:build !unix && !windows

package drive

import "time"

// CPUTime is not known here.
func CPUTime() (time.Duration, bool) { return 0, false }
