package mcpgo

import (
	"context"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/correlator-go/correlator/conn"
)

const (
	noteProgress    = "notifications/progress"
	subscriptionKey = "io.modelcontextprotocol/subscriptionId"
)

// mail is what comes in for one call before its answer. Its methods run on the
// caller's goroutine.
type mail struct {
	ctx  context.Context
	to   *mailbox
	wait time.Duration // for a place, and in the end for the handler

	last    <-chan struct{} // closed when the handler has seen what came last
	hurried bool            // a wait was in vain: nothing waits until there is room again
}

// progress takes the reports of the call, and puts the caller's token back.
func (m *mail) progress(token any) func(conn.Progress) {
	return func(report conn.Progress) {
		n, err := notification(noteProgress, report.Params)
		if err != nil {
			return // its token was read, the rest cannot be
		}
		n.Params.AdditionalFields["progressToken"] = token
		m.put(n)
	}
}

// subscription takes the notifications of a subscription, and puts the caller's id
// in the place of the one on the wire.
func (m *mail) subscription(id any) func(conn.Notification) {
	return func(note conn.Notification) {
		n, err := notification(note.Method, note.Params)
		if err != nil {
			return
		}
		if _, ok := n.Params.Meta[subscriptionKey]; ok {
			n.Params.Meta[subscriptionKey] = id
		}
		m.put(n)
	}
}

// put passes n on to the handler, or drops it when there is no place for it in
// time. The handler may be what makes this call, so neither wait may be for ever.
func (m *mail) put(n mcp.JSONRPCNotification) {
	if m.to.tryPlace() {
		m.hurried = false
		m.last = m.to.post(n)
		return
	}
	if m.hurried || m.wait == 0 {
		return
	}
	limit := time.NewTimer(m.wait)
	defer limit.Stop()
	if read := m.to.put(m.ctx, limit.C, n); read != nil {
		m.last = read
		return
	}
	m.hurried = true
}

// await waits until the handler has seen what came before the answer.
func (m *mail) await() {
	if m.last == nil || m.wait == 0 {
		return
	}
	limit := time.NewTimer(m.wait)
	defer limit.Stop()
	select {
	case <-m.last:
	case <-limit.C:
	case <-m.ctx.Done():
	}
}
