package conn

import (
	"context"
	"net"
)

// Dial connects to a server over "tcp", "tcp4", "tcp6" or "unix"; any other
// network is refused with a *net.OpError that wraps net.UnknownNetworkError.
//
// ctx bounds the dialling only. Frames leave at once (TCP_NODELAY), since the
// writer already gathers what is queued. The kernel probes an idle TCP link
// every 15 s, which notices a host that has gone, not a process that hangs:
// for that set Options.KeepAlive.
func Dial(ctx context.Context, network, address string, o Options) (*Conn, error) {
	switch network {
	case "tcp", "tcp4", "tcp6", "unix":
	default:
		return nil, &net.OpError{Op: "dial", Net: network, Err: net.UnknownNetworkError(network)}
	}
	var dialer net.Dialer
	link, err := dialer.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	if tcp, ok := link.(*net.TCPConn); ok {
		// Go's default as well; said here because the latency hangs on it.
		_ = tcp.SetNoDelay(true)
	}
	c, err := New(link, o)
	if err != nil {
		_ = link.Close()
		return nil, err
	}
	return c, nil
}
