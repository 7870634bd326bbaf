package client_test

import (
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/client"
	"github.com/correlator-go/correlator/conn"
)

// childVar makes the test binary a child process that joins its standard input and
// output to the unix socket that the variable names. So whatever a test serves is
// behind a real child.
const childVar = "CORRELATOR_CLIENT_CHILD"

func TestMain(m *testing.M) {
	if address := os.Getenv(childVar); address != "" {
		if err := relay(address); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(3)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func relay(address string) error {
	c, err := net.Dial("unix", address)
	if err != nil {
		return err
	}
	go func() {
		_, _ = io.Copy(c, os.Stdin)
		_ = c.(*net.UnixConn).CloseWrite()
	}()
	_, err = io.Copy(os.Stdout, c)
	return err
}

// child is the way to a child process in front of what listens on l.
func child(t *testing.T, l net.Listener) client.Transport {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	return client.Command(conn.Command{Path: self, Env: append(os.Environ(), childVar+"="+l.Addr().String()), Grace: 200 * time.Millisecond})
}

// listen listens on a unix socket until the test is over.
func listen(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("unix", filepath.Join(t.TempDir(), "s"))
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	return l
}
