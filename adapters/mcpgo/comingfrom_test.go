package mcpgo_test

// The code of docs/coming-from/mcp-go.md.

import (
	"context"
	"errors"
	"os"
	"testing"
	"time"

	mcpgoclient "github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	mcpgotypes "github.com/mark3labs/mcp-go/mcp"
	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/adapters/mcpgo"
	"github.com/correlator-go/correlator/client"
	"github.com/correlator-go/correlator/conn"
)

func itsOwn(command string, env []string, args ...string) (*mcpgoclient.Client, error) {
	c, err := mcpgoclient.NewStdioMCPClient(command, env, args...)
	return c, err
}

func overOurs(command string, env []string, args ...string) (*mcpgoclient.Client, error) {
	c, err := mcpgo.NewStdioMCPClient(command, env, args...)
	return c, err
}

func withOptions(command string, env []string, args ...string) *mcpgo.Transport {
	t := mcpgo.Command(conn.Command{
		Path: command, Args: args, Env: append(os.Environ(), env...),
		Stderr: os.Stderr,       // beside client.GetStderr
		Grace:  3 * time.Second, // to end by itself once its standard input was closed
	}, mcpgo.Options{
		Conn: conn.Options{
			Timeout:     30 * time.Second,                               // of every call, without a context
			MaxPending:  10_000,                                         // calls; the next one fails at once
			OnStray:     func(s conn.Stray) { report(string(s.Frame)) }, // banners, broken lines, answers to nothing
			OnClose:     func(why error) { report(why.Error()) },        // *conn.PeerGone has the exit code
			KeepAlive:   time.Minute,                                    // a ping after so much silence
			MaxFrame:    4 << 20,                                        // bytes of an answer
			WriteBuffer: 1 << 20,                                        // bytes that wait for a server that does not read
		},
	})
	return t
}

func report(string) {}

// whatFailed tells what became of a call.
func whatFailed(err error) string {
	sent, known := conn.Sent(err)
	switch gone, died := errors.AsType[*conn.PeerGone](err); {
	case err == nil:
		return "answered"
	case errors.Is(err, context.DeadlineExceeded): // the context's, or Options.Conn.Timeout
		return "too slow"
	case died:
		return "the server died: " + string(gone.StderrTail)
	case errors.Is(err, transport.ErrTransportClosed):
		return "closed"
	case known && !sent:
		return "never sent, so it may be asked again"
	}
	return "refused by the server"
}

// wholly is the same call by the library's own client.
func wholly(ctx context.Context, command string, env []string) (string, error) {
	c, err := client.Connect(ctx, client.Command(conn.Command{Path: command, Env: append(os.Environ(), env...)}), client.Options{})
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

func TestComingFromMCPGo(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	env := []string{serverVar + "=mcp-go"}
	double := func(c *mcpgoclient.Client) {
		_, err := c.Initialize(t.Context(), mcpgotypes.InitializeRequest{})
		require.NoError(t, err)
		got, err := tool(t.Context(), c, "double", 4, nil)
		require.NoError(t, err)
		require.Equal(t, "8", got)
		require.NoError(t, c.Close())
		_, err = tool(t.Context(), c, "double", 4, nil)
		require.Equal(t, "closed", whatFailed(err))
	}
	for _, open := range []func(string, []string, ...string) (*mcpgoclient.Client, error){itsOwn, overOurs} {
		c, err := open(self, env)
		require.NoError(t, err)
		double(c)
	}
	c := mcpgoclient.NewClient(withOptions(self, env))
	require.NoError(t, c.Start(context.Background()))
	double(c)

	got, err := wholly(t.Context(), self, env)
	require.NoError(t, err)
	require.Equal(t, "8", got)

	broken, err := overOurs(self, []string{serverVar + "=broken"})
	require.NoError(t, err)
	_, err = broken.Initialize(t.Context(), mcpgotypes.InitializeRequest{})
	require.Equal(t, "the server died: no luck today\n", whatFailed(err))
	require.NoError(t, broken.Close())
}
