//go:build !unix || aix

package guard

import (
	"errors"
	"os/exec"
	"time"
)

// supported: there are no process groups here, or no clock that processes have in
// common. On Windows it would take a job object.
const supported = false

var begun = time.Now()

func now() time.Duration { return time.Since(begun) }

func alone(*exec.Cmd) {}

func settleDown() {}

func signalGroup(int, bool) {}

func gone(int) bool { return true }

func become(string, []string, ...int) error { return errors.ErrUnsupported }
