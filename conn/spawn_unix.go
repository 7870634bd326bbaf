//go:build unix

package conn

import (
	"os"
	"os/exec"
	"syscall"
)

// groupAlone makes the child the leader of a process group of its own, so that
// what it starts can be ended with it, and a Ctrl-C at our terminal is ours to
// pass on.
//
// NB: no parent-death signal is asked for, not even on Linux: there it is bound
// to the thread that forked, which the Go runtime may end at any time. A child
// learns of our death from the end of its standard input.
func groupAlone(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
}

// signalGroup asks the child's process group to end, or kills it. That nobody
// is left is no error.
func signalGroup(p *os.Process, kill bool) {
	signal := syscall.SIGTERM
	if kill {
		signal = syscall.SIGKILL
	}
	_ = syscall.Kill(-p.Pid, signal)
}

// exitState gives the exit code, or -1 and the signal that killed it.
func exitState(s *os.ProcessState) (code int, signal string) {
	if status, ok := s.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return -1, signalName(status.Signal())
	}
	return s.ExitCode(), ""
}

// signalName is the name that kill(1) takes, for those signals that end
// processes in practice, and the system's description of any other.
func signalName(s syscall.Signal) string {
	switch s {
	case syscall.SIGABRT:
		return "SIGABRT"
	case syscall.SIGALRM:
		return "SIGALRM"
	case syscall.SIGBUS:
		return "SIGBUS"
	case syscall.SIGFPE:
		return "SIGFPE"
	case syscall.SIGHUP:
		return "SIGHUP"
	case syscall.SIGILL:
		return "SIGILL"
	case syscall.SIGINT:
		return "SIGINT"
	case syscall.SIGKILL:
		return "SIGKILL"
	case syscall.SIGPIPE:
		return "SIGPIPE"
	case syscall.SIGQUIT:
		return "SIGQUIT"
	case syscall.SIGSEGV:
		return "SIGSEGV"
	case syscall.SIGSYS:
		return "SIGSYS"
	case syscall.SIGTERM:
		return "SIGTERM"
	case syscall.SIGTRAP:
		return "SIGTRAP"
	case syscall.SIGUSR1:
		return "SIGUSR1"
	case syscall.SIGUSR2:
		return "SIGUSR2"
	case syscall.SIGXCPU:
		return "SIGXCPU"
	}
	return s.String()
}
