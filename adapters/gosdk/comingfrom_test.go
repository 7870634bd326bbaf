package gosdk_test

// The code of docs/coming-from/go-sdk.md.

import (
	"context"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/adapters/gosdk"
	"github.com/correlator-go/correlator/client"
	"github.com/correlator-go/correlator/conn"
)

func itsOwn(ctx context.Context, c *mcp.Client, cmd *exec.Cmd) (*mcp.ClientSession, error) {
	session, err := c.Connect(ctx, &mcp.CommandTransport{Command: cmd}, nil)
	return session, err
}

func overOurs(ctx context.Context, c *mcp.Client, path string, args, env []string) (*mcp.ClientSession, error) {
	command := conn.Command{Path: path, Args: args, Env: env}
	session, err := c.Connect(ctx, gosdk.Command(command, gosdk.Options{}), nil)
	return session, err
}

// serveOverOurs is what a server does that is a child process.
func serveOverOurs(ctx context.Context, server *mcp.Server) error {
	return server.Run(ctx, gosdk.Stdio(gosdk.Options{}))
}

// wholly is the same call by the library's own client.
func wholly(ctx context.Context, path string, env []string) (string, error) {
	c, err := client.Connect(ctx, client.Command(conn.Command{Path: path, Env: env}), client.Options{})
	if err != nil {
		return "", err
	}
	defer c.Close()
	result, err := c.CallTool(ctx, "double", map[string]int{"n": 4}, client.CallOptions{Timeout: 30 * time.Second})
	if err != nil {
		return "", err
	}
	return result.Content[0].Text, nil
}

func TestComingFromGoSDK(t *testing.T) {
	command := child(t, "stdio")
	c := mcp.NewClient(&mcp.Implementation{Name: "client", Version: "1"}, nil)
	cmd := exec.Command(command.Path)
	cmd.Env = command.Env
	before, err := itsOwn(t.Context(), c, cmd)
	require.NoError(t, err)
	after, err := overOurs(t.Context(), c, command.Path, nil, command.Env)
	require.NoError(t, err)
	for _, s := range []*mcp.ClientSession{before, after} {
		got, err := tool(t.Context(), s, "double", 4, nil)
		require.NoError(t, err)
		require.Equal(t, "8", got)
		require.NoError(t, s.Close())
	}
	got, err := wholly(t.Context(), command.Path, append(os.Environ(), command.Env...))
	require.NoError(t, err)
	require.Equal(t, "8", got)
}
