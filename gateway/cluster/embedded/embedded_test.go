package embedded_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/gateway/cluster/embedded"
	"github.com/correlator-go/correlator/gateway/internal/fake"
)

func TestMain(m *testing.M) { os.Exit(fake.Main(m)) }

func Example() {
	s, err := embedded.Start(embedded.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = s.Close() }()
	c, err := nats.Connect("", nats.InProcessServer(s))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()
	fmt.Println(c.Status())
	// Output: CONNECTED
}

// Who has no token is not let in, and with a port others reach it.
func TestTokenAndPort(t *testing.T) {
	s, err := embedded.Start(embedded.Options{Port: -1, Token: "secret", Dir: t.TempDir()})
	require.NoError(t, err)
	defer func() { require.NoError(t, s.Close()) }()
	_, err = nats.Connect(s.URL())
	require.ErrorIs(t, err, nats.ErrAuthorization)
	c, err := nats.Connect(s.URL(), nats.Token("secret"))
	require.NoError(t, err)
	c.Close()
}

// A folder that is none is an error, and nothing runs.
func TestStartFails(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	_, err := embedded.Start(embedded.Options{Dir: file})
	require.Error(t, err)
}
