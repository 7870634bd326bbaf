package fake

import (
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"time"
)

// leakWait is how long goroutines may take to end after the last test.
const leakWait = 10 * time.Second

// Main runs the tests of a package, for its TestMain, and fails when goroutines are left
// behind. Its result is for os.Exit.
func Main(m interface{ Run() int }) int {
	// The standard library's goroutine for signals never ends, and fuzzing starts it.
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt)
	signal.Stop(signals)
	before := runtime.NumGoroutine()
	if code := m.Run(); code != 0 {
		return code
	}
	late := time.NewTimer(leakWait)
	defer late.Stop()
	look := time.NewTicker(time.Millisecond)
	defer look.Stop()
	for runtime.NumGoroutine() > before {
		select {
		case <-look.C:
		case <-late.C:
			stacks := make([]byte, 1<<20)
			stacks = stacks[:runtime.Stack(stacks, true)]
			_, _ = fmt.Fprintf(os.Stderr, "goroutines are left behind:\n%s\n", stacks)
			return 1
		}
	}
	return 0
}
