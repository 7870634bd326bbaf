package upstream_test

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/conn"
	"github.com/correlator-go/correlator/gateway/internal/fake"
)

func TestMain(m *testing.M) {
	if os.Getenv(childMark) != "" {
		beChild()
		return
	}
	os.Exit(fake.Main(m))
}

// childMark in the environment makes this program the server that tests start.
const childMark = "CORRELATOR_TEST_CHILD"

// child is the command that runs this program as a server.
func child() conn.Command {
	return conn.Command{Path: os.Args[0], Env: append(os.Environ(), childMark+"=1")}
}

// beChild serves standard input: the method of a request says what becomes of it.
//
//	count  is answered with how many of its kind have come, and the process's id
//	hold   is answered when a request release comes, or the input ends
//	loud   is answered after 200 KiB on standard error
//	deaf   closes standard output, and goes on
//	die    says why on standard error, and exits with 3
func beChild() {
	out := bufio.NewWriter(os.Stdout)
	answer := func(id, result string) {
		_, _ = fmt.Fprintf(out, "{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":%s}\n", id, result)
	}
	var held []string
	release := func() {
		for _, id := range held {
			answer(id, `"held"`)
		}
		held = nil
	}
	counted := 0
	in := bufio.NewReader(os.Stdin)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			release()
			_ = out.Flush()
			return
		}
		m, err := codec.Parse(line, codec.ScanOptions{})
		if err != nil || m.Kind != codec.KindRequest {
			continue
		}
		id := string(m.RawID())
		switch string(m.Method()) {
		case "count":
			counted++
			answer(id, fmt.Sprintf("[%d,%d]", counted, os.Getpid()))
		case "hold":
			held = append(held, id)
		case "release":
			release()
			answer(id, "{}")
		case "loud":
			_, _ = os.Stderr.WriteString(strings.Repeat("0123456789abcde\n", 200<<10/16))
			answer(id, `"loud"`)
		case "deaf":
			_ = os.Stdout.Close()
		case "die":
			_, _ = os.Stderr.WriteString("out of cheese\n")
			os.Exit(3)
		}
		_ = out.Flush()
	}
}
