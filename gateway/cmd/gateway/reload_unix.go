//go:build unix

package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// onReload calls f at each SIGHUP until ctx ends.
func onReload(ctx context.Context, f func()) {
	hang := make(chan os.Signal, 1)
	signal.Notify(hang, syscall.SIGHUP)
	go func() {
		defer signal.Stop(hang)
		for {
			select {
			case <-hang:
				f()
			case <-ctx.Done():
				return
			}
		}
	}()
}
