package conn_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/conn"
	"github.com/correlator-go/correlator/engine"
)

func spawn(t *testing.T, command conn.Command, o conn.Options) *conn.Conn {
	t.Helper()
	c, err := conn.Spawn(t.Context(), command, o)
	require.NoError(t, err)
	t.Cleanup(func() {
		_ = c.Close()
		<-c.Done()
	})
	return c
}

func TestSpawnServesUntilClosed(t *testing.T) {
	nothingLeft(t)
	c := spawn(t, part("echo"), conn.Options{})
	var wg sync.WaitGroup
	for range 100 {
		wg.Go(func() {
			got, err := c.Call(t.Context(), "echo", []byte(`{"text":"grüße"}`), conn.CallOptions{})
			require.NoError(t, err)
			require.Equal(t, `{"text":"grüße"}`, string(got))
		})
	}
	wg.Wait()
	require.NoError(t, c.Close())
	require.NoError(t, c.Close(), "again")
	_, err := c.Call(t.Context(), "echo", nil, conn.CallOptions{})
	require.ErrorIs(t, err, conn.ErrClosed)
	var gone *conn.PeerGone
	require.False(t, errors.As(err, &gone), "we closed it: %v", err)
}

func TestSpawnClosedByManyAtOnce(t *testing.T) {
	nothingLeft(t)
	c := spawn(t, part("echo"), conn.Options{})
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() { require.NoError(t, c.Close()) })
	}
	wg.Wait()
}

// A callback runs on the reader, which then cannot read the child's last words;
// it may close the connection all the same.
func TestSpawnClosedFromACallback(t *testing.T) {
	nothingLeft(t)
	command := part("echo")
	command.Drain = time.Millisecond
	c := spawn(t, command, conn.Options{})
	closed := make(chan error, 1)
	_, err := c.Start(t.Context(), "echo", []byte(`1`), conn.CallOptions{}, func(conn.Outcome) { closed <- c.Close() })
	require.NoError(t, err)
	require.NoError(t, <-closed)
	<-c.Done()
}

// The answers to what is in flight when Close begins still count: this child
// gives none before its input ends.
func TestCloseTakesLastAnswers(t *testing.T) {
	nothingLeft(t)
	c := spawn(t, part("late"), conn.Options{})
	var wg sync.WaitGroup
	began := make(chan struct{}, 10)
	for range 10 {
		wg.Go(func() {
			done := make(chan conn.Outcome, 1)
			_, err := c.Start(t.Context(), "late", []byte(`[1]`), conn.CallOptions{}, func(o conn.Outcome) {
				o.Value = bytes.Clone(o.Value)
				done <- o
			})
			require.NoError(t, err)
			began <- struct{}{}
			o := <-done
			require.NoError(t, o.Err)
			require.Equal(t, `[1]`, string(o.Value))
		})
	}
	for range 10 {
		<-began
	}
	require.NoError(t, c.Close())
	wg.Wait()
}

func TestChildExits(t *testing.T) {
	nothingLeft(t)
	command := part("exit", "7")
	c := spawn(t, command, conn.Options{})
	var wg sync.WaitGroup
	for range 5 {
		wg.Go(func() {
			_, err := c.Call(t.Context(), "quit", nil, conn.CallOptions{Timeout: engine.NoTimeout})
			require.ErrorIs(t, err, conn.ErrClosed)
			require.ErrorIs(t, err, io.EOF)
			gone, ok := errors.AsType[*conn.PeerGone](err)
			require.True(t, ok, "%v", err)
			require.Equal(t, 7, gone.ExitCode)
			require.Empty(t, gone.Signal)
			require.Equal(t, command.Path, gone.Command)
			require.Equal(t, "leaving early\n", string(gone.StderrTail))
			require.Contains(t, err.Error(), "exited with code 7")
			require.Contains(t, err.Error(), "leaving early")
		})
	}
	wg.Wait()
	<-c.Done()
	_, ok := errors.AsType[*conn.PeerGone](c.Err())
	require.True(t, ok, "%v", c.Err())
}

// What a child wrote before it died is still an answer.
func TestAnswerOfADyingChild(t *testing.T) {
	nothingLeft(t)
	for range 10 {
		c := spawn(t, part("farewell"), conn.Options{})
		got, err := c.Call(t.Context(), "last", []byte(`"words"`), conn.CallOptions{})
		require.NoError(t, err)
		require.Equal(t, `"words"`, string(got))
		<-c.Done()
		gone, ok := errors.AsType[*conn.PeerGone](c.Err())
		require.True(t, ok, "%v", c.Err())
		require.Equal(t, 3, gone.ExitCode)
	}
}

// A frame cut off by the child's death is no answer, and the error says so; a
// whole one that only lacks its end of line is.
func TestChildDiesInsideAFrame(t *testing.T) {
	nothingLeft(t)
	c := spawn(t, part("blurt", `{"jsonrpc":"2.0","id":ID,"result":{"a":`), conn.Options{})
	_, err := c.Call(t.Context(), "m", nil, conn.CallOptions{})
	gone, ok := errors.AsType[*conn.PeerGone](err)
	require.True(t, ok, "%v", err)
	require.ErrorIs(t, gone, io.ErrUnexpectedEOF)
	require.Equal(t, 0, gone.ExitCode)

	c = spawn(t, part("blurt", `{"jsonrpc":"2.0","id":ID,"result":{"a":1}}`), conn.Options{})
	got, err := c.Call(t.Context(), "m", nil, conn.CallOptions{})
	require.NoError(t, err)
	require.Equal(t, `{"a":1}`, string(got))
}

// A child that dies is started again when it is needed again.
func TestRedialSpawn(t *testing.T) {
	nothingLeft(t)
	starts := 0
	r, err := conn.NewRedialer(conn.RedialOptions{
		OnDemand: true,
		Backoff:  conn.Backoff{Min: time.Millisecond},
		Dial: func(ctx context.Context) (*conn.Conn, error) {
			starts++
			return conn.Spawn(ctx, part("flood", "10"), conn.Options{})
		},
	})
	require.NoError(t, err)
	for range 3 {
		got, err := r.Call(t.Context(), "echo", []byte(`1`), conn.CallOptions{})
		require.NoError(t, err)
		require.Equal(t, `1`, string(got))
		_, err = r.Call(t.Context(), "quit", nil, conn.CallOptions{})
		gone, ok := errors.AsType[*conn.PeerGone](err)
		require.True(t, ok, "%v", err)
		require.Equal(t, 9, gone.ExitCode)
	}
	require.NoError(t, r.Close())
	<-r.Done()
	require.Equal(t, 3, starts)
}

func TestL07StderrFlood(t *testing.T) {
	nothingLeft(t)
	var stderr lockedBuffer
	command := part("flood", "204800")
	command.Stderr = &stderr
	command.StderrTail = 1000
	c := spawn(t, command, conn.Options{})
	for range 3 {
		got, err := c.Call(t.Context(), "echo", []byte(`{}`), conn.CallOptions{})
		require.NoError(t, err)
		require.Equal(t, `{}`, string(got))
	}
	require.NoError(t, c.Close())
	require.Equal(t, 3*(204800+len("last words\n")), stderr.Len())
}

func TestStderrTailIsBounded(t *testing.T) {
	nothingLeft(t)
	for _, tc := range []struct {
		limit, want int
	}{{0, conn.DefaultStderrTail}, {100, 100}, {-1, 0}} {
		command := part("flood", "204800")
		command.StderrTail = tc.limit
		c := spawn(t, command, conn.Options{})
		_, err := c.Call(t.Context(), "echo", []byte(`{}`), conn.CallOptions{})
		require.NoError(t, err)
		_, err = c.Call(t.Context(), "quit", nil, conn.CallOptions{})
		require.ErrorIs(t, err, conn.ErrClosed)
		<-c.Done()
		gone, ok := errors.AsType[*conn.PeerGone](c.Err())
		require.True(t, ok)
		require.Len(t, gone.StderrTail, tc.want)
		if tc.want > 0 {
			require.True(t, strings.HasSuffix(string(gone.StderrTail), "xlast words\n"))
		}
	}
}

// A writer that fails or panics stops being written to; the child does not
// notice.
func TestStderrWriterThatFails(t *testing.T) {
	nothingLeft(t)
	for name, w := range map[string]io.Writer{"fails": failingWriter{}, "panics": panickingWriter{}} {
		t.Run(name, func(t *testing.T) {
			command := part("flood", "204800")
			command.Stderr = w
			c := spawn(t, command, conn.Options{})
			for range 2 {
				_, err := c.Call(t.Context(), "echo", []byte(`{}`), conn.CallOptions{})
				require.NoError(t, err)
			}
		})
	}
}

func TestSpawnError(t *testing.T) {
	nothingLeft(t)
	for name, tc := range map[string]struct {
		command conn.Command
		is      error
	}{
		"not in PATH":   {conn.Command{Path: "no-such-program-anywhere", Args: []string{"a", "b"}}, exec.ErrNotFound},
		"no such file":  {conn.Command{Path: "/no/such/file"}, fs.ErrNotExist},
		"no directory":  {func() conn.Command { c := part("echo"); c.Dir = "/no/such/directory"; return c }(), fs.ErrNotExist},
		"not a program": {conn.Command{Path: t.TempDir()}, fs.ErrPermission},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := conn.Spawn(t.Context(), tc.command, conn.Options{})
			require.Nil(t, c)
			failed, ok := errors.AsType[*conn.SpawnError](err)
			require.True(t, ok, "%v", err)
			require.Equal(t, tc.command.Path, failed.Command)
			require.Equal(t, tc.command.Args, failed.Args)
			require.ErrorIs(t, err, tc.is)
			require.Contains(t, err.Error(), tc.command.Path)
		})
	}

	t.Run("ctx has ended", func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		reason := errors.New("not today")
		cancel(reason)
		_, err := conn.Spawn(ctx, part("echo"), conn.Options{})
		_, ok := errors.AsType[*conn.SpawnError](err)
		require.True(t, ok, "%v", err)
		require.ErrorIs(t, err, reason)
	})

	t.Run("bad option", func(t *testing.T) {
		_, err := conn.Spawn(t.Context(), part("echo"), conn.Options{MaxPending: 1 << 30})
		_, ok := errors.AsType[*conn.OptionError](err)
		require.True(t, ok, "%v", err)
	})
}

func TestSpawnEnvironmentAndDirectory(t *testing.T) {
	nothingLeft(t)
	dir := t.TempDir()
	command := part("where")
	command.Env = append(command.Env, "CORRELATOR_TEST_WORD=hello")
	command.Dir = dir
	c := spawn(t, command, conn.Options{})
	got, err := conn.Call[map[string]string](t.Context(), c, "where", nil, conn.CallOptions{})
	require.NoError(t, err)
	require.Equal(t, "hello", got["word"])
	require.Equal(t, dir, got["dir"])
}

// ctx bounds the start; its end later changes nothing.
func TestSpawnOutlivesItsContext(t *testing.T) {
	nothingLeft(t)
	ctx, cancel := context.WithCancel(t.Context())
	c, err := conn.Spawn(ctx, part("echo"), conn.Options{})
	require.NoError(t, err)
	cancel()
	_, err = c.Call(t.Context(), "echo", []byte(`1`), conn.CallOptions{})
	require.NoError(t, err)
	require.NoError(t, c.Close())
}

type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) Len() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Len()
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

type failingWriter struct{}

func (failingWriter) Write([]byte) (int, error) { return 0, errors.New("disk full") }

type panickingWriter struct{}

func (panickingWriter) Write([]byte) (int, error) { panic("logger broken") }
