package embedding_test

import (
	"fmt"
	"os"
	"runtime"
	"runtime/pprof"
	"testing"
	"time"
)

// The examples leave no goroutine behind.
func TestMain(m *testing.M) {
	before := runtime.NumGoroutine()
	code := m.Run()
	for deadline := time.Now().Add(10 * time.Second); code == 0 && runtime.NumGoroutine() > before; runtime.Gosched() {
		if time.Now().After(deadline) {
			fmt.Fprintln(os.Stderr, "goroutines are left:")
			_ = pprof.Lookup("goroutine").WriteTo(os.Stderr, 1)
			code = 1
		}
	}
	os.Exit(code)
}
