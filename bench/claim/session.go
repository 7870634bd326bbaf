package claim

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"
)

// Role is what a child process does: it measures and returns its values, or, as
// a server, returns nil when its standard input ends.
type Role func(args []string) (Values, error)

// roleFlag comes first among the arguments of a child.
const roleFlag = "-role"

// ChildMax bounds the time of one child that measures.
const ChildMax = 3 * time.Minute

// Session measures. It is for one goroutine at a time.
type Session struct {
	// Rounds is how often each series runs its contenders.
	Rounds int
	// Profiles, when not empty, is the directory into which every child that
	// measures writes a CPU profile and one of all its allocations. They slow it
	// down a little.
	Profiles string

	log    io.Writer
	series map[string]result
}

type result struct {
	series *Series
	err    error
}

// NewSession returns a session of so many rounds that writes to log what it is
// about to measure. rounds is at least 1.
func NewSession(rounds int, log io.Writer) *Session {
	return &Session{Rounds: max(rounds, 1), log: log, series: map[string]result{}}
}

// Series returns the series of the given name, and runs it first if it has not
// run yet: every contender once a round. Later calls need not name contenders.
// After an error the series holds the rounds that were whole.
func (s *Session) Series(name string, contenders ...Contender) (*Series, error) {
	return s.SeriesOf(name, s.Rounds, contenders...)
}

// SeriesOf is Series with its own number of rounds at most, for what takes long.
func (s *Session) SeriesOf(name string, rounds int, contenders ...Contender) (*Series, error) {
	if r, ok := s.series[name]; ok {
		return r.series, r.err
	}
	began := time.Now()
	r := result{series: new(Series)}
	for range min(rounds, s.Rounds) {
		if r.err = r.series.run(contenders); r.err != nil {
			r.err = fmt.Errorf("%s: %w", name, r.err)
			break
		}
	}
	fmt.Fprintf(s.log, "# %-28s %5.1f s\n", name, time.Since(began).Seconds())
	s.series[name] = r
	return r.series, r.err
}

// Child runs a role in a process of its own and returns what it measured.
func (s *Session) Child(role string, args ...string) (Values, error) {
	if s.Profiles != "" {
		args = append([]string{s.Profiles, role}, args...)
		role = profiledRole
	}
	cmd, err := s.command(role, args)
	if err != nil {
		return nil, err
	}
	var out, problems bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &problems
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	timer := time.AfterFunc(ChildMax, func() { _ = cmd.Process.Kill() })
	defer timer.Stop()
	if err := cmd.Wait(); err != nil {
		return nil, fmt.Errorf("%s %s: %w: %s", role, strings.Join(args, " "), err, tail(problems.Bytes()))
	}
	var v Values
	if err := json.Unmarshal(out.Bytes(), &v); err != nil {
		return nil, fmt.Errorf("%s: answer %q: %w", role, tail(out.Bytes()), err)
	}
	return v, nil
}

// Serve starts a role that runs until stop is called, and waits for its first
// line of output, which it returns: the address it listens on, for instance.
func (s *Session) Serve(role string, args ...string) (line string, stop func(), err error) {
	cmd, err := s.command(role, args)
	if err != nil {
		return "", nil, err
	}
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return "", nil, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return "", nil, err
	}
	if err := cmd.Start(); err != nil {
		return "", nil, err
	}
	stop = func() {
		_ = stdin.Close()
		timer := time.AfterFunc(5*time.Second, func() { _ = cmd.Process.Kill() })
		defer timer.Stop()
		_ = cmd.Wait()
	}
	if _, err := fmt.Fscanln(stdout, &line); err != nil {
		stop()
		return "", nil, fmt.Errorf("%s said nothing: %w", role, err)
	}
	return line, stop, nil
}

func (s *Session) command(role string, args []string) (*exec.Cmd, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return exec.Command(self, append([]string{roleFlag, role}, args...)...), nil
}

// play runs the role that args ask for.
func play(args []string, out io.Writer, roles map[string]Role) error {
	if len(args) == 0 {
		return errors.New("no role named")
	}
	if args[0] == profiledRole {
		return playProfiled(args[1:], out, roles)
	}
	role, ok := roles[args[0]]
	if !ok {
		return fmt.Errorf("no role %q", args[0])
	}
	v, err := role(args[1:])
	if err != nil || v == nil {
		return err
	}
	return json.NewEncoder(out).Encode(v)
}

// tail is the end of what a child wrote.
func tail(b []byte) []byte {
	const most = 600
	b = bytes.TrimSpace(b)
	return b[max(0, len(b)-most):]
}
