package conn_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/conn"
)

// The tests' children are this test binary, started again with childMode set:
// init then plays the part and never returns. No part sleeps: it waits for
// input, for a signal, or for the tests' socket to close.
const childMode = "CORRELATOR_TEST_CHILD"

// part is what a child does, and what it is told beside its name.
func part(name string, args ...string) conn.Command {
	exe, err := os.Executable()
	if err != nil {
		panic(err)
	}
	return conn.Command{Path: exe, Args: args, Env: childEnv(name)}
}

// childEnv names the part, and has a child built with the race detector leave
// without the second that this takes by default.
func childEnv(name string) []string {
	return append(os.Environ(), childMode+"="+name, "GORACE=atexit_sleep_ms=0")
}

func init() {
	name := os.Getenv(childMode)
	if name == "" {
		return
	}
	play, ok := parts[name]
	if !ok {
		fmt.Fprintln(os.Stderr, "no such part:", name)
		os.Exit(100)
	}
	play(os.Args[1:])
	os.Exit(0)
}

var parts = map[string]func(args []string){
	"server": serveStdio,

	// echo answers until its input ends.
	"echo": func([]string) { serveLines(func(line request) { answer(line.ID, line.Params) }) },

	// where tells about its surroundings.
	"where": func([]string) {
		serveLines(func(line request) {
			dir, _ := os.Getwd()
			text, _ := json.Marshal(map[string]string{"dir": dir, "word": os.Getenv("CORRELATOR_TEST_WORD")})
			answer(line.ID, text)
		})
	},

	// flood writes args[0] bytes to stderr before each answer, and leaves on
	// request.
	"flood": func(args []string) {
		n, _ := strconv.Atoi(args[0])
		serveLines(func(line request) {
			if line.Method == "quit" {
				os.Exit(9)
			}
			_, _ = os.Stderr.Write(append(bytes.Repeat([]byte("x"), n), "last words\n"...))
			answer(line.ID, line.Params)
		})
	},

	// exit leaves with code args[0] at the first request, unanswered.
	"exit": func(args []string) {
		serveLines(func(request) {
			fmt.Fprintln(os.Stderr, "leaving early")
			code, _ := strconv.Atoi(args[0])
			os.Exit(code)
		})
	},

	// farewell answers the first request and dies in the same breath, with the
	// answer still in the pipe.
	"farewell": func([]string) {
		serveLines(func(line request) {
			answer(line.ID, line.Params)
			os.Exit(3)
		})
	},

	// blurt writes args[0] with the first request's id, and no end of line, and
	// leaves.
	"blurt": func(args []string) {
		serveLines(func(line request) {
			fmt.Print(strings.ReplaceAll(args[0], "ID", string(line.ID)))
			os.Exit(0)
		})
	},

	// suicide kills itself at the first request.
	"suicide": func([]string) {
		serveLines(func(request) {
			self, _ := os.FindProcess(os.Getpid())
			_ = self.Kill()
			select {}
		})
	},

	// late answers what it got only when its input has ended.
	"late": func([]string) {
		var kept []request
		serveLines(func(line request) { kept = append(kept, line) })
		for _, line := range kept {
			answer(line.ID, line.Params)
		}
	},

	// hostile does with each request whatever a hostile peer does, and now and then
	// reads no more.
	"hostile": func([]string) {
		n := 0
		serveLines(func(line request) {
			if n++; n == 30 {
				select {}
			}
			if !misdeeds[rand.IntN(len(misdeeds))].do(os.Stdout, line.ID) {
				os.Exit(7)
			}
		})
	},

	// mute closes its output at the first request and lives on until it gets
	// SIGTERM, whatever becomes of its input. It says so on the socket args[0].
	"mute": func(args []string) {
		terms := make(chan os.Signal, 1)
		signal.Notify(terms, syscall.SIGTERM)
		life := dialTest(args[0], "mute")
		serveLines(func(request) { _ = os.Stdout.Close() })
		fmt.Fprintln(life, "input ended")
		<-terms
		fmt.Fprintln(life, "told to end")
	},

	// deaf closes its input and lives on until it gets SIGTERM.
	"deaf": func(args []string) {
		terms := make(chan os.Signal, 1)
		signal.Notify(terms, syscall.SIGTERM)
		_ = os.Stdin.Close()
		dialTest(args[0], "deaf")
		<-terms
	},

	// stubborn does not even mind SIGTERM. It has a child of its own in the
	// same process group that holds the socket open as well.
	"stubborn": func(args []string) {
		terms := make(chan os.Signal, 1)
		signal.Notify(terms, syscall.SIGTERM)
		life := dialTest(args[0], "stubborn")
		startPart("bystander", args[0], nil)
		serveLines(func(line request) { answer(line.ID, line.Params) })
		fmt.Fprintln(life, "input ended")
		for range terms {
			fmt.Fprintln(life, "told to end")
		}
	},

	// bystander holds the socket open until it is killed.
	"bystander": func(args []string) {
		signal.Ignore(syscall.SIGTERM)
		life := dialTest(args[0], "bystander")
		_, _ = io.Copy(io.Discard, life)
	},

	// parent leaves a bystander behind that holds standard output open, and
	// dies at the first request, answered.
	"parent": func(args []string) {
		startPart("bystander", args[0], os.Stdout)
		serveLines(func(line request) {
			answer(line.ID, line.Params)
			os.Exit(5)
		})
	},
}

type request struct {
	ID     json.RawMessage
	Method string
	Params json.RawMessage
}

// serveLines hands each line of standard input to serve, until it ends.
func serveLines(serve func(request)) {
	lines := bufio.NewReader(os.Stdin)
	for {
		text, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		var line request
		if json.Unmarshal(text, &line) == nil && len(line.ID) > 0 {
			serve(line)
		}
	}
}

func answer(id, result json.RawMessage) {
	fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", id, result)
}

func dialTest(address, name string) net.Conn {
	life, err := net.Dial("tcp", address)
	if err != nil {
		panic(err)
	}
	fmt.Fprintln(life, name)
	return life
}

func startPart(name, address string, stdout *os.File) {
	cmd := exec.Command(os.Args[0], address)
	cmd.Env = childEnv(name)
	if stdout != nil {
		cmd.Stdout = stdout
	}
	if err := cmd.Start(); err != nil {
		panic(err)
	}
}

// lives listens for the parts that hold a socket open while they live.
func lives(t *testing.T) (address string, next func() *life) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	return l.Addr().String(), func() *life {
		link, err := l.Accept()
		require.NoError(t, err)
		t.Cleanup(func() { _ = link.Close() })
		l := &life{Conn: link, lines: bufio.NewReader(link)}
		l.name = l.next()
		return l
	}
}

// life is the tests' end of the socket that a part holds open while it lives.
type life struct {
	net.Conn
	name  string
	lines *bufio.Reader
}

// next is the next thing that the part says; "" once it is dead.
func (l *life) next() string {
	line, err := l.lines.ReadString('\n')
	if err != nil {
		return ""
	}
	return strings.TrimSpace(line)
}
