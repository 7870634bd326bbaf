package main

import (
	"bufio"
	"io"
	"net"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/conn"
)

// answering listens on a socket and says the same to so many requests of each client.
func answering(t *testing.T, say string, times int) (target string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", path)
	require.NoError(t, err)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			for in, said := bufio.NewScanner(c), 0; said < times && in.Scan(); {
				if !strings.Contains(in.Text(), `"id":`) {
					continue // a cancel
				}
				if _, err := io.WriteString(c, say); err != nil {
					break
				}
				said++
			}
			_ = c.Close()
		}
	}()
	t.Cleanup(func() {
		require.NoError(t, l.Close())
		<-done
	})
	return "unix:" + path
}

// A target that speaks something else is no success, and is shown at its word.
func TestTargetThatSpeaksSomethingElse(t *testing.T) {
	for _, c := range []struct{ name, say, note string }{
		{"garbage", "HTTP/1.1 400 Bad Request\n", `20 frames of the target were unreadable, the first: "HTTP/1.1 400 Bad Request" (codec: no JSON value at byte 0)`},
		{"batch", "[]\n", `20 frames of the target were batches, the first: "[]"`},
		{"no id", `{"jsonrpc":"2.0","error":{"code":-32600,"message":"who are you?"}}` + "\n", `20 answers had no id, the first: "{\"jsonrpc\":\"2.0\",`},
		{"nothing", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			code, out, errs := loadgen(t, "-target", answering(t, c.say, 1000), "-n", "20", "-c", "20", "-timeout", "300ms", "-quiet")
			require.Equal(t, exitError, code, out+errs)
			require.Contains(t, out, "no call was answered: timeout 20")
			require.Contains(t, out, c.note)
			if c.note == "" {
				require.NotContains(t, out, "frames")
			}
		})
	}
}

func TestTargetThatSpeaksSomethingElseToAGreeting(t *testing.T) {
	code, out, errs := loadgen(t, "-target", answering(t, "nope\n", 1), "-mcp", "-era", "older", "-n", "1", "-quiet")
	require.Equal(t, exitError, code)
	require.Contains(t, out+errs, `1 frame of the target was unreadable: "nope"`)
}

func TestStraysAreCutAndForgotten(t *testing.T) {
	s := new(strays)
	for range 1001 {
		s.see(conn.Stray{Reason: conn.StrayTooLarge, Frame: []byte(strings.Repeat("x", conn.StrayBytes)), Size: 1 << 20})
		s.see(conn.Stray{Reason: conn.StrayUnmatched, Frame: []byte("late")})
	}
	require.Equal(t, []string{`1,001 frames of the target were too large, the first: "` + strings.Repeat("x", strayBytes) + `"… of 1,048,576 bytes`}, s.notes())
	s.forget()
	require.Empty(t, s.notes())
}
