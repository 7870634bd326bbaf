//go:build unix

package conn

import (
	"os"
	"syscall"
)

// withoutSignal is f under another number: a write to a broken pipe kills a Go
// program if the file is number 1 or 2, and returns an error on any other. The
// copy lives as long as the process.
func withoutSignal(f *os.File) (*os.File, error) {
	syscall.ForkLock.RLock() // no child of ours may inherit it
	defer syscall.ForkLock.RUnlock()
	fd, err := syscall.Dup(int(f.Fd()))
	if err != nil {
		return nil, os.NewSyscallError("dup", err)
	}
	syscall.CloseOnExec(fd)
	return os.NewFile(uintptr(fd), f.Name()), nil
}
