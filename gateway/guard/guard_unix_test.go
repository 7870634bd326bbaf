//go:build unix

package guard_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/conn"
	"github.com/correlator-go/correlator/gateway/guard"
)

var _ conn.Guard = (*guard.Guard)(nil)

// stubborn minds neither SIGTERM nor the end of its input, and nor does the process that
// it starts. Both hold standard output open for as long as they live.
const stubborn = `trap '' TERM; sleep 1000 & echo up; wait; sleep 1000`

// program is a command that leads a group of its own, and the other end of its output.
func program(t *testing.T, name string, args ...string) (*exec.Cmd, *bufio.Reader) {
	t.Helper()
	r, w, err := os.Pipe()
	require.NoError(t, err)
	t.Cleanup(func() { _, _ = r.Close(), w.Close() })
	cmd := exec.Command(name, args...)
	cmd.Stdout = w
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return cmd, bufio.NewReader(r)
}

func line(t *testing.T, r *bufio.Reader) string {
	t.Helper()
	text, err := r.ReadString('\n')
	require.NoError(t, err)
	return strings.TrimSpace(text)
}

// allGone returns when nobody holds the output of cmd open.
func allGone(t *testing.T, cmd *exec.Cmd, out *bufio.Reader) {
	t.Helper()
	require.NoError(t, cmd.Stdout.(*os.File).Close()) // ours
	rest, err := io.ReadAll(out)
	require.NoError(t, err)
	require.Empty(t, rest)
}

func newGuard(t *testing.T, o guard.Options) *guard.Guard {
	t.Helper()
	g := guard.New(o)
	t.Cleanup(func() { require.NoError(t, g.Close()) })
	return g
}

func pid(t *testing.T, g *guard.Guard) int {
	t.Helper()
	n, err := g.Pid(t.Context())
	require.NoError(t, err)
	return n
}

// tell prints all that a program can see of how it was started.
func tell() {
	dir, _ := os.Getwd()
	fmt.Println(os.Args, dir)
	env := os.Environ()
	slices.Sort(env)
	fmt.Println(env)
	group := syscall.Getpgrp() == os.Getpid()
	fmt.Println("leads its group:", group)
	for d := range 20 { // what Go opens for itself comes later than what was inherited
		var at syscall.Stat_t
		if syscall.Fstat(d, &at) == nil && d < 3 {
			fmt.Println("has descriptor", d)
		}
		if _, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", d)); err == nil {
			if to, _ := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", d)); strings.HasPrefix(to, "pipe:") {
				fmt.Println("has a pipe at", d)
			}
		}
	}
}

// A program that was started under the guard cannot tell.
func TestProgramSeesNoDifference(t *testing.T) {
	own, err := os.Executable()
	require.NoError(t, err)
	look := func(start func(*exec.Cmd) error) string {
		cmd, out := program(t, own, "-x", "", "a b")
		cmd.Args[0] = "another name"
		cmd.Dir = t.TempDir()
		cmd.Env = append(os.Environ(), partOf+"=tell", "ODD=a\nb", "EMPTY=")
		require.NoError(t, start(cmd))
		require.NoError(t, cmd.Stdout.(*os.File).Close())
		text, err := io.ReadAll(out)
		require.NoError(t, err)
		require.NoError(t, cmd.Wait())
		return strings.ReplaceAll(string(text), cmd.Dir, "DIR")
	}
	plain := look((*exec.Cmd).Start)
	require.Contains(t, plain, "[another name -x  a b] DIR\n")
	require.Contains(t, plain, "leads its group: true")
	g := newGuard(t, guard.Options{})
	require.Equal(t, plain, look(func(cmd *exec.Cmd) error {
		release, err := g.Start(t.Context(), cmd)
		if err == nil {
			defer release()
		}
		return err
	}))
	require.Zero(t, g.Stats())
}

// What cannot be started gives the same error as without a guard, and leaves nothing.
func TestStartFails(t *testing.T) {
	g := newGuard(t, guard.Options{})
	odd := filepath.Join(t.TempDir(), "odd")
	require.NoError(t, os.WriteFile(odd, []byte("\x00"), 0o700))
	data := filepath.Join(t.TempDir(), "data")
	require.NoError(t, os.WriteFile(data, nil, 0o600))
	for name, want := range map[string]error{
		"/nowhere/at-all": fs.ErrNotExist, "nowhere-in-path": exec.ErrNotFound, odd: syscall.ENOEXEC, data: fs.ErrPermission,
	} {
		plain, _ := program(t, name)
		cmd, out := program(t, name)
		release, err := g.Start(t.Context(), cmd)
		require.ErrorIs(t, err, want, name)
		require.Equal(t, plain.Start().Error(), err.Error())
		require.Nil(t, release)
		allGone(t, cmd, out)
	}
	require.Zero(t, g.Stats())

	defer guard.Unhook()()
	cmd, out := program(t, "true")
	_, err := g.Start(t.Context(), cmd)
	require.ErrorIs(t, err, guard.ErrNoHook)
	allGone(t, cmd, out)
}

// What a child whose lease is not kept has started ends with it, without any help of
// ours: SIGTERM does not reach them.
func TestLeaseIsNotKept(t *testing.T) {
	g := newGuard(t, guard.Options{})
	var l guard.Lease
	ctx := guard.WithLease(t.Context(), &l)
	early, out := program(t, "sh", "-c", stubborn)
	_, err := g.Start(ctx, early)
	require.ErrorIs(t, err, guard.ErrLease)
	allGone(t, early, out)

	l.Keep(time.Now(), time.Hour, time.Hour)
	require.False(t, l.Over())
	leased, out := program(t, "sh", "-c", stubborn)
	release, err := g.Start(ctx, leased)
	require.NoError(t, err)
	require.Equal(t, "up", line(t, out))
	free, outFree := program(t, "sh", "-c", stubborn)
	releaseFree, err := g.Start(t.Context(), free)
	require.NoError(t, err)
	require.Equal(t, "up", line(t, outFree))
	require.Equal(t, 2, g.Stats().Watched)

	l.Keep(time.Now().Add(-time.Second), time.Second, time.Second+10*time.Millisecond)
	require.True(t, l.Over())
	allGone(t, leased, out)
	require.Error(t, leased.Wait())
	release()
	release()
	require.EqualValues(t, 1, g.Stats().Overdue)

	require.NoError(t, syscall.Kill(-free.Process.Pid, 0), "what has no lease lives")
	require.NoError(t, syscall.Kill(-free.Process.Pid, syscall.SIGKILL))
	allGone(t, free, outFree)
	require.Error(t, free.Wait())
	releaseFree()
	require.Equal(t, guard.Stats{Overdue: 1}, g.Stats())
}

// A guard that was killed is replaced, and the new one knows what the old one knew.
func TestGuardIsKilled(t *testing.T) {
	g := newGuard(t, guard.Options{})
	var l guard.Lease
	l.Keep(time.Now(), time.Hour, time.Hour)
	cmd, out := program(t, "sh", "-c", stubborn)
	release, err := g.Start(guard.WithLease(t.Context(), &l), cmd)
	require.NoError(t, err)
	require.Equal(t, "up", line(t, out))
	for n := range 3 {
		old := pid(t, g)
		require.NoError(t, syscall.Kill(old, syscall.SIGKILL))
		require.Eventually(t, func() bool { return g.Stats().Restarts == uint64(n+1) }, time.Minute, time.Millisecond)
		require.NotEqual(t, old, pid(t, g))
	}
	l.Keep(time.Now().Add(-time.Hour), time.Second, time.Second)
	allGone(t, cmd, out)
	require.Error(t, cmd.Wait())
	release()
	require.Equal(t, guard.Stats{Restarts: 3, Overdue: 1}, g.Stats())
}

// A guard that does not answer is replaced, and who waits for it is served by the next.
func TestGuardIsFrozen(t *testing.T) {
	g := newGuard(t, guard.Options{Patience: 500 * time.Millisecond})
	cmd, out := program(t, "true")
	release, err := g.Start(t.Context(), cmd)
	require.NoError(t, err)
	allGone(t, cmd, out)
	old := pid(t, g)
	require.NoError(t, syscall.Kill(old, syscall.SIGSTOP))
	another, out := program(t, "true")
	releaseAnother, err := g.Start(t.Context(), another)
	require.NoError(t, err)
	allGone(t, another, out)
	require.ErrorIs(t, syscall.Kill(old, 0), syscall.ESRCH)
	release()
	releaseAnother()
	require.NoError(t, cmd.Wait())
	require.NoError(t, another.Wait())
	require.NotZero(t, g.Stats().Restarts)
}

// The guard minds no signal by which groups are asked to end; Close ends it, and what it
// is still told to watch over.
func TestClose(t *testing.T) {
	g := guard.New(guard.Options{Grace: -1, TermGrace: -1})
	cmd, out := program(t, "sh", "-c", stubborn)
	release, err := g.Start(t.Context(), cmd)
	require.NoError(t, err)
	require.Equal(t, "up", line(t, out))
	own := pid(t, g)
	for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT} {
		require.NoError(t, syscall.Kill(own, s))
	}
	another, outAnother := program(t, "true")
	releaseAnother, err := g.Start(t.Context(), another)
	require.NoError(t, err)
	allGone(t, another, outAnother)
	require.NoError(t, another.Wait())
	releaseAnother()
	require.Zero(t, g.Stats().Restarts)
	require.NoError(t, g.Close())
	require.ErrorIs(t, syscall.Kill(own, 0), syscall.ESRCH)
	allGone(t, cmd, out)
	require.Error(t, cmd.Wait())
	release()
	require.NoError(t, g.Close())
	late, out := program(t, "true")
	_, err = g.Start(t.Context(), late)
	require.ErrorIs(t, err, guard.ErrClosed)
	allGone(t, late, out)
	require.NoError(t, guard.New(guard.Options{}).Close(), "one that never had a child")
}

// ctx bounds the start, whatever the guard does meanwhile.
func TestStartIsCancelled(t *testing.T) {
	g := newGuard(t, guard.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	own := pid(t, g)
	require.NoError(t, syscall.Kill(own, syscall.SIGSTOP))
	cmd, out := program(t, "sh", "-c", stubborn)
	over := make(chan error, 1)
	go func() {
		_, err := g.Start(ctx, cmd)
		over <- err
	}()
	require.Eventually(t, func() bool { return g.Stats().Watched == 1 }, time.Minute, time.Millisecond)
	cancel()
	require.NoError(t, syscall.Kill(own, syscall.SIGCONT))
	require.ErrorIs(t, <-over, context.Canceled)
	allGone(t, cmd, out)
	require.Zero(t, g.Stats().Watched)
}

// own is a process that starts a stubborn child whose output is descriptor 3, and then is
// killed or frozen.
func own(start func(*exec.Cmd) error) {
	cmd := exec.Command("sh", "-c", stubborn)
	out := os.NewFile(3, "output")
	cmd.Stdout = out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := start(cmd); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	_ = out.Close()
	fmt.Println("started")
	_, _ = io.Copy(io.Discard, os.Stdin) // which does not end
}

// The child of a program that is killed, or frozen while it has a lease to keep, ends with
// all that it has started, though it minds nothing; and so does one of a program that is
// killed in the moment between the start of a process and its being known.
func TestOwnerIsNoMore(t *testing.T) {
	path, err := os.Executable()
	require.NoError(t, err)
	for part, signal := range map[string]syscall.Signal{
		"owner": syscall.SIGKILL, "at the gate": syscall.SIGKILL, "leased owner": syscall.SIGSTOP,
	} {
		t.Run(part, func(t *testing.T) {
			owner, says := program(t, path)
			owner.Env = append(os.Environ(), partOf+"="+part)
			out, theirs, err := os.Pipe()
			require.NoError(t, err)
			defer func() { _, _ = out.Close(), theirs.Close() }()
			owner.ExtraFiles = []*os.File{theirs}
			in, err := owner.StdinPipe()
			require.NoError(t, err)
			require.NoError(t, owner.Start())
			require.NoError(t, theirs.Close())
			defer func() { _ = owner.Process.Kill() }()
			require.Equal(t, "started", line(t, says))
			require.NoError(t, owner.Process.Signal(signal))
			rest, err := io.ReadAll(out) // until child and grandchild are gone
			require.NoError(t, err)
			if part == "at the gate" {
				require.Empty(t, rest, "the program never ran")
			}
			_ = owner.Process.Kill()
			require.Error(t, owner.Wait())
			_ = in.Close() // Wait has done it
		})
	}
}
