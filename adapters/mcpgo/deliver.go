package mcpgo

import (
	"runtime/debug"

	"github.com/mark3labs/mcp-go/mcp"
)

// deliver runs the handler. A panic in it harms nothing else; OnPanic of the
// connection's options is shown it.
func (t *Transport) deliver(n mcp.JSONRPCNotification) {
	handler := t.notify.Load()
	if handler == nil {
		return
	}
	defer func() {
		if v := recover(); v != nil && t.o.Conn.OnPanic != nil {
			t.o.Conn.OnPanic(v, debug.Stack())
		}
	}()
	(*handler)(n)
}
