//go:build unix && !aix

package guard

import (
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const supported = true

// alone takes the guard out of reach of our terminal, and of who ends our group.
func alone(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

// now is the time since the machine was started, without steps and the same in all its
// processes, as the one that Go measures durations with. It does not count while the
// machine is suspended.
func now() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &t); err != nil {
		panic("guard: no clock: " + err.Error()) // every kernel of these has it
	}
	return time.Duration(t.Nano())
}

// settleDown lets go of what the program itself was started with and passes on to all
// that it starts, and makes the process what only its input and SIGKILL end. A service manager
// that asks every process of a service to end asks the program, too, which ends its
// children in its own way, with the guard there until it is through.
func settleDown() {
	if entries, err := os.ReadDir("/dev/fd"); err == nil {
		for _, e := range entries {
			d, err := strconv.Atoi(e.Name())
			if err != nil || d < 3 {
				continue
			}
			// What this process has opened itself does not pass on.
			if flags, err := unix.FcntlInt(uintptr(d), unix.F_GETFD, 0); err == nil && flags&unix.FD_CLOEXEC == 0 {
				_ = unix.Close(d)
			}
		}
	}
	signal.Ignore(syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGPIPE, syscall.SIGUSR1, syscall.SIGUSR2)
	// On Linux the short name, which killall goes by, is that of the file otherwise.
	_ = os.WriteFile("/proc/self/comm", []byte(guardName[:15]), 0)
}

// signalGroup asks a group to end, or kills it.
func signalGroup(pgid int, kill bool) {
	s := syscall.SIGTERM
	if kill {
		s = syscall.SIGKILL
	}
	_ = syscall.Kill(-pgid, s)
}

// gone reports whether nobody is left of a group. That we may not send it a signal means
// the same on Darwin, where it says so of the dead that nobody has waited for.
func gone(pgid int) bool { return syscall.Kill(-pgid, 0) != nil }

// become replaces the program of this process; the descriptors stay behind.
func become(path string, args []string, descriptors ...int) error {
	for _, d := range descriptors {
		syscall.CloseOnExec(d)
	}
	return syscall.Exec(path, args, os.Environ())
}
