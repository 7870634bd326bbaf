//go:build unix

package cputime

import (
	"syscall"
	"time"
)

// Used is the user and system time of this process so far, and whether this
// system tells it.
func Used() (time.Duration, bool) {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0, false
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), true
}
