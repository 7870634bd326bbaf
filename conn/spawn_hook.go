package conn

// A stream is any io.ReadWriteCloser. Some know more than that, and Conn asks:
//
//   - halfCloser: nothing more will be written, reading goes on. Close uses it
//     so that answers on the way still count. *net.TCPConn, *net.UnixConn and
//     child processes have it.
//   - explainer: why reading ended, said better than the bare error does.
type (
	halfCloser interface {
		// CloseWrite ends our side of the stream. A second call does nothing.
		CloseWrite() error
	}
	explainer interface {
		// explain turns the error that ended the reading into the one that
		// the pending calls fail with. It may wait a moment, since a process
		// that died closes its streams before its exit code can be read.
		explain(err error) error
	}
)
