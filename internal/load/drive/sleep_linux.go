package drive

import (
	"syscall"
	"time"
)

// PreciseSleep waits for d to within some 60 µs, by the system's own call: a Go
// timer in an otherwise idle process rounds up to a whole millisecond, which at
// 5,000 requests a second is five of them late. It occupies a thread meanwhile.
func PreciseSleep(d time.Duration) {
	if d <= 0 {
		return
	}
	rest := syscall.NsecToTimespec(int64(d))
	for syscall.Nanosleep(&rest, &rest) == syscall.EINTR { // rest is what was left
	}
}
