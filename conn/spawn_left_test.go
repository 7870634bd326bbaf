package conn_test

import (
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// nothingLeft fails the test unless, once it and its cleanups are over, no
// goroutine and no child is left of it, not even a zombie. Tests that use it do
// not run in parallel. Call it first.
func nothingLeft(t *testing.T) {
	t.Helper()
	before := runtime.NumGoroutine()
	t.Cleanup(func() {
		noChildren(t)
		deadline := time.Now().Add(5 * time.Second)
		for runtime.NumGoroutine() > before && time.Now().Before(deadline) {
			runtime.Gosched()
		}
		if after := runtime.NumGoroutine(); after > before {
			buf := make([]byte, 1<<20)
			require.LessOrEqual(t, after, before, "goroutines left:\n%s", buf[:runtime.Stack(buf, true)])
		}
	})
}
