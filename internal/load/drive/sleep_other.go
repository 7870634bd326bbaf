//go:build !linux

package drive

import "time"

// PreciseSleep waits for d, as precisely as timers do here.
func PreciseSleep(d time.Duration) { time.Sleep(d) }
