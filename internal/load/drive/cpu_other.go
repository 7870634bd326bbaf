//go:build !unix && !windows

package drive

import "time"

// cpuTime is not known here.
func cpuTime() (time.Duration, bool) { return 0, false }
