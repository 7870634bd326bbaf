package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"time"
)

// child is one process of the measurement.
type child struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	Socket string
}

// startWait is how long a process may take to serve.
const startWait = 20 * time.Second

// errLate: a process does not serve.
var errLate = errors.New("check: a process does not serve")

// errStatus: HTTP answered something else.
var errStatus = errors.New("check: not the status that is due")

// begin starts this program in a role, or another program whose clients come to socket.
func begin(program, socket string, args ...string) (*child, error) {
	c := &child{cmd: exec.Command(program, args...), Socket: socket}
	c.cmd.Stderr = os.Stderr
	var err error
	if c.in, err = c.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	c.out = bufio.NewReader(out)
	if err := c.cmd.Start(); err != nil {
		return nil, err
	}
	for late := time.Now().Add(startWait); ; time.Sleep(10 * time.Millisecond) {
		probe, err := net.Dial("unix", socket)
		if err == nil {
			_ = probe.Close()
			return c, nil
		}
		if time.Now().After(late) {
			c.end()
			return nil, fmt.Errorf("%w: %v", errLate, args)
		}
	}
}

func beginRole(name, socket string, upstream ...string) (*child, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	c, err := begin(self, socket, append([]string{"-role", name, socket}, upstream...)...)
	if err != nil {
		return nil, err
	}
	_, err = c.out.ReadString('\n') // "ready"
	return c, err
}

// usage asks a role for what it has used; how is "gc" where memory matters.
func (c *child) usage(how string) (u usage, err error) {
	if _, err := io.WriteString(c.in, how+"\n"); err != nil {
		return u, err
	}
	line, err := c.out.ReadBytes('\n')
	if err != nil {
		return u, err
	}
	return u, json.Unmarshal(line, &u)
}

func (c *child) end() {
	_ = c.in.Close()
	_ = c.cmd.Wait()
}
