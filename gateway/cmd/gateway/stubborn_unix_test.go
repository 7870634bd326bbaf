//go:build unix

package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/correlator-go/correlator/codec"
)

// Variables by which the server of tests is told to be stubborn.
const (
	stubbornDir  = "GATEWAY_TEST_DIR"
	stubbornName = "GATEWAY_TEST_NAME"
)

// stubborn serves standard input, and says to everybody what it is called. It minds
// neither SIGTERM nor the end of its input, and has a helper that minds them no more.
// Both hold two files open for as long as they live: a pipe by the server's name, so that
// a test hears when they are gone, and one that is locked, so that history tells
// if there was ever a second one.
func stubborn(dir, name string) error {
	signal.Ignore(syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT, syscall.SIGPIPE) // the helper inherits it
	lock, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	did := "started"
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		did = "is not alone: " + err.Error()
	}
	history, err := os.OpenFile(filepath.Join(dir, "history"), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(history, "%s %s\n", name, did); err != nil {
		return err
	}
	alive, err := os.OpenFile(filepath.Join(dir, name), os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	helper := exec.Command("sleep", "1000")
	helper.ExtraFiles = []*os.File{lock, alive}
	if err := helper.Start(); err != nil {
		return err
	}
	in := bufio.NewReader(os.Stdin)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return helper.Wait()
		}
		if m, err := codec.Parse(line, codec.ScanOptions{Profile: codec.JSONRPC}); err == nil && m.Kind == codec.KindRequest {
			fmt.Printf("{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":%q}\n", m.RawID(), name)
		}
	}
}
