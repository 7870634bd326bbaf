//go:build !unix

package conn

import (
	"os"
	"os/exec"
)

// groupAlone does nothing: there are no process groups here.
func groupAlone(*exec.Cmd) {}

// signalGroup kills the child alone, since there is no polite signal and no
// group here. What the child started lives on; on Windows that takes a job
// object, which the standard library does not offer.
func signalGroup(p *os.Process, _ bool) { _ = p.Kill() }

// exitState gives the exit code; nothing dies of signals here.
func exitState(s *os.ProcessState) (code int, signal string) { return s.ExitCode(), "" }
