package conn

import (
	"fmt"
	"io"
	"strings"
)

// PeerGone says that the peer ended or can say nothing more: its stream
// ended, broke, or its process died. Every call that was pending then fails
// with an error that unwraps to the one *PeerGone of the connection.
//
// On a socket only Err is known, and ExitCode is -1.
type PeerGone struct {
	// Command is the program that ran, empty for a peer that is no child of
	// ours.
	Command string
	// ExitCode is the exit status of the process, -1 if it is not known: the
	// process was killed by a signal, lives on after closing its standard
	// output, or is no child of ours.
	ExitCode int
	// Signal names the signal that killed the process, such as "SIGKILL";
	// empty if none did, and on systems without signals.
	Signal string
	// StderrTail is the end of what the process wrote to its standard error,
	// at most Command.StderrTail bytes. It must not be changed: all failed
	// calls share it.
	StderrTail []byte
	// Err is what ended the stream: io.EOF when the peer closed it between
	// two frames, io.ErrUnexpectedEOF in the middle of one, else the error of
	// the system.
	Err error
}

// Error puts everything that is known into one line; of the standard error
// only the last line.
func (e *PeerGone) Error() string {
	var b strings.Builder
	b.WriteString("conn: peer gone")
	if e.Command != "" {
		fmt.Fprintf(&b, ": %s", e.Command)
		switch {
		case e.Signal != "":
			fmt.Fprintf(&b, " killed by %s", e.Signal)
		case e.ExitCode >= 0:
			fmt.Fprintf(&b, " exited with code %d", e.ExitCode)
		default:
			b.WriteString(" closed its output and lives on")
		}
	}
	if e.Err != nil {
		fmt.Fprintf(&b, ": %v", e.Err)
	}
	if line := lastLine(e.StderrTail); line != "" {
		fmt.Fprintf(&b, "; stderr ends: %s", line)
	}
	return b.String()
}

// Unwrap gives Err, or io.EOF if there is none.
func (e *PeerGone) Unwrap() error {
	if e.Err == nil {
		return io.EOF
	}
	return e.Err
}

// lastLine is the last line of text that is not blank.
func lastLine(text []byte) string {
	s := strings.TrimRight(string(text), "\r\n\t ")
	return strings.TrimSpace(s[strings.LastIndexByte(s, '\n')+1:])
}
