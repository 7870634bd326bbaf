package conn

import "syscall"

// What waitid(2) takes, by the kernel's numbers.
const (
	waitPID    = 1
	waitExited = 4
	waitNoReap = 0x01000000
)

// awaitExit blocks until the child is dead and leaves it unreaped, so that its
// number stays its own. False says that this kernel would not tell.
func awaitExit(pid int) bool {
	for {
		_, _, errno := syscall.Syscall6(syscall.SYS_WAITID, waitPID, uintptr(pid), 0, waitExited|waitNoReap, 0, 0)
		if errno != syscall.EINTR {
			return errno == 0
		}
	}
}
