//go:build unix

package guard_test

import (
	"context"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/correlator-go/correlator/gateway/guard"
	"github.com/correlator-go/correlator/gateway/internal/fake"
)

// partOf in the environment makes this program what a test needs.
const partOf = "GUARD_TEST_PART"

func TestMain(m *testing.M) {
	guard.Hook()
	switch os.Getenv(partOf) {
	case "":
		os.Exit(fake.Main(m))
	case "tell":
		tell()
	case "at the gate":
		own(func(cmd *exec.Cmd) error { return guard.AtGate(cmd) })
	case "owner":
		own(func(cmd *exec.Cmd) error {
			_, err := guard.New(guard.Options{}).Start(context.Background(), cmd)
			return err
		})
	case "leased owner":
		var l guard.Lease
		l.Keep(time.Now(), time.Second, 2*time.Second)
		own(func(cmd *exec.Cmd) error {
			_, err := guard.New(guard.Options{}).Start(guard.WithLease(context.Background(), &l), cmd)
			return err
		})
	}
}
