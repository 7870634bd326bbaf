package guard

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"strconv"
	"syscall"
)

// gate stands before a child: a process that waits until it may become the program that
// it was started for. Between the start of a process and the moment when the guard has
// been told of it there is always a while in which this process may be killed, and the
// child would then be nobody's; behind the gate it ends instead. It costs the start of
// this program once more, some 15 ms.
type gate struct {
	path   string
	enter  *os.File // a byte opens it, the end of it closes it
	status *os.File // the number of the error, or the end of it when the program runs
}

// behindGate starts cmd up to the gate.
func behindGate(cmd *exec.Cmd) (*gate, error) {
	own, err := self()
	if err != nil {
		return nil, err
	}
	wait, open, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	status, tell, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, wait.Close(), open.Close())
	}
	g := &gate{cmd.Path, open, status}
	first := 3 + len(cmd.ExtraFiles)
	cmd.Args = append([]string{startName, strconv.Itoa(first), cmd.Path}, cmd.Args...)
	cmd.Path, cmd.ExtraFiles = own, append(cmd.ExtraFiles, wait, tell)
	err = cmd.Start()
	_, _ = wait.Close(), tell.Close()
	if err != nil {
		g.close()
		return nil, err
	}
	return g, nil
}

// open lets the program run. The error is that of exec.Cmd.Start.
func (g *gate) open() error {
	// Its end before this is as if the program had ended at once.
	_, _ = g.enter.Write([]byte{1})
	text, err := io.ReadAll(g.status)
	if err != nil {
		return err
	}
	if len(text) == 0 {
		return nil
	}
	n, err := strconv.Atoi(string(text))
	if err != nil {
		return err
	}
	return &fs.PathError{Op: "fork/exec", Path: g.path, Err: syscall.Errno(n)}
}

func (g *gate) close() { _, _ = g.enter.Close(), g.status.Close() }

// beChild waits at the gate and becomes the program. The arguments are the first of our
// two descriptors, the program's path, and its arguments from its name on.
func beChild(args []string) (code int) {
	if len(args) < 3 {
		return 2
	}
	first, err := strconv.Atoi(args[0])
	if err != nil {
		return 2
	}
	wait, tell := os.NewFile(uintptr(first), "gate"), os.NewFile(uintptr(first+1), "status")
	if wait == nil || tell == nil {
		return 2
	}
	if _, err := io.ReadFull(wait, make([]byte, 1)); err != nil {
		return 0 // who started us is gone, or has thought better of it
	}
	err = become(args[1], args[2:], first, first+1)
	if number, ok := errors.AsType[syscall.Errno](err); ok {
		_, _ = tell.WriteString(strconv.Itoa(int(number)))
	}
	return 127
}
