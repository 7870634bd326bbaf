package cputime

import (
	"syscall"
	"time"
)

// Used is the user and kernel time of this process so far, and whether this
// system tells it.
func Used() (time.Duration, bool) {
	self, err := syscall.GetCurrentProcess()
	if err != nil {
		return 0, false
	}
	var created, exited, kernel, user syscall.Filetime
	if err := syscall.GetProcessTimes(self, &created, &exited, &kernel, &user); err != nil {
		return 0, false
	}
	return span(kernel) + span(user), true
}

// span reads a Filetime that holds a length, in units of 100 ns. Its Nanoseconds
// method would take it for a date.
func span(f syscall.Filetime) time.Duration {
	return time.Duration(int64(f.HighDateTime)<<32|int64(f.LowDateTime)) * 100
}
