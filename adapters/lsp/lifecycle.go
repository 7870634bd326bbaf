package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/conn"
)

// The methods of a session's beginning and end.
const (
	methodInitialize  = "initialize"
	methodInitialized = "initialized"
	methodShutdown    = "shutdown"
	methodExit        = "exit"
)

// Initialize begins the session: it sends initialize, waits for the answer and sends
// initialized. It returns the result, of which the server's capabilities are part.
//
// params are a struct, a map or json.RawMessage, and encode to an object; nil is an
// empty one. Three members that the protocol demands are put in where params have none:
// processId (ours if the server is our child, else null), rootUri (null) and
// capabilities ({}).
//
// If the server refuses, with a *ResponseError, Initialize may be called again. It is
// never cancelled at the server: when it expires, or ctx ends, the connection ends.
func (c *Client) Initialize(ctx context.Context, params any, o CallOptions) (json.RawMessage, error) {
	encoded, folders, err := c.initializeParams(params)
	if err != nil {
		return nil, err
	}
	if !c.state.CompareAndSwap(stateMade, stateInitializing) {
		if c.state.Load() == stateShut {
			return nil, ErrShutdown
		}
		return nil, ErrInitialized
	}
	c.mu.Lock()
	c.folders = folders
	c.mu.Unlock()
	o.CancelGrace = 0 // there is no cancel whose answer could be waited for
	result, err := c.call(ctx, methodInitialize, encoded, o)
	if err == nil {
		err = c.conn.Notify(ctx, methodInitialized, []byte("{}"))
	}
	if err != nil {
		c.state.CompareAndSwap(stateInitializing, stateMade)
		return nil, err
	}
	if !c.state.CompareAndSwap(stateInitializing, stateReady) {
		return nil, ErrShutdown
	}
	return result, nil
}

// initializeParams are params with what must not be missing, and the folders in them.
func (c *Client) initializeParams(params any) (raw, folders json.RawMessage, err error) {
	if raw, err = encode(params); err != nil {
		return nil, nil, fmt.Errorf("lsp: initialize params: %w", err)
	}
	members := map[string]json.RawMessage{}
	if raw != nil {
		if err := codec.DecodeValue(raw, &members); err != nil {
			return nil, nil, fmt.Errorf("lsp: initialize params: %w", err)
		}
	}
	process := json.RawMessage("null")
	if c.local {
		process = fmt.Append(nil, os.Getpid())
	}
	for _, m := range []struct {
		name  string
		value json.RawMessage
	}{{"processId", process}, {"rootUri", json.RawMessage("null")}, {"capabilities", json.RawMessage("{}")}} {
		if _, ok := members[m.name]; !ok {
			if raw, err = withMember(raw, m.name, m.value); err != nil {
				return nil, nil, err
			}
		}
	}
	return raw, members["workspaceFolders"], nil
}

// Shutdown ends the session: it sends shutdown, waits for the answer, sends exit, waits
// for the server to end by itself, at most Options.ExitGrace and until ctx ends, and
// closes the connection as Close does, whatever failed on the way. A session that is not
// initialized skips shutdown, as the protocol has it.
//
// The error is that of the shutdown call, else a *conn.PeerGone if the server exited
// with a code other than 0 or by a signal. A second Shutdown fails with ErrShutdown,
// having waited for nothing.
func (c *Client) Shutdown(ctx context.Context) error {
	before := c.state.Swap(stateShut)
	if before == stateShut {
		return ErrShutdown
	}
	var err error
	if before == stateReady {
		_, err = c.call(ctx, methodShutdown, nil, CallOptions{})
	}
	if c.conn.Notify(ctx, methodExit, nil) == nil {
		c.awaitExit(ctx)
	}
	_ = c.conn.Close()
	if gone, ok := errors.AsType[*conn.PeerGone](c.conn.Err()); ok && err == nil && (gone.ExitCode > 0 || gone.Signal != "") {
		return gone
	}
	return err
}

// awaitExit waits for the connection to be ended by the server.
func (c *Client) awaitExit(ctx context.Context) {
	if c.o.ExitGrace == 0 {
		return
	}
	grace := time.NewTimer(c.o.ExitGrace)
	defer grace.Stop()
	select {
	case <-c.conn.Done():
	case <-ctx.Done():
	case <-grace.C:
	}
}

// ready says whether method may be sent now.
func (c *Client) ready(method string) error {
	switch method {
	case methodInitialize, methodInitialized, methodShutdown, methodExit:
		return fmt.Errorf("%w: %s", ErrLifecycle, method)
	}
	switch c.state.Load() {
	case stateReady:
		return nil
	case stateShut:
		return fmt.Errorf("%w: %s", ErrShutdown, method)
	}
	return fmt.Errorf("%w: %s", ErrNotInitialized, method)
}
