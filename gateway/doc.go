// Package gateway lets many MCP or JSON-RPC clients share a few servers without
// their ids, tokens, cancels, deadlines or failures ever crossing.
//
//	g, err := gateway.New(gateway.Options{Upstreams: []gateway.Upstream{{
//		Name: "tools", Opener: upstream.Child(conn.Command{Path: "server"}), Isolation: gateway.Shared,
//	}}})
//	…
//	err = downstream.Listen(ctx, listener, g, downstream.Options{})
//
// It is the core: who is connected, which call is whose, what becomes of it.
// Transports bring messages and take them away (packages downstream and upstream);
// what has to change in a message is said by package route, which has no I/O.
//
// # The life of a call
//
//	client's reader    Session.Receive ─▶ table: (client, id) ─▶ backend ─▶ engine: call id ─▶ Upstream.Send
//	upstream's reader  backend.Receive ─▶ engine: settled once ─▶ table: removed ─▶ Client.Send
//
// No goroutine belongs to a call. What a reader brings is passed on in the same
// call, with its ids replaced while it is copied into the other side's write batch;
// what expires is answered by the timer of its engine.
//
// A call is waiting (its upstream is being opened), pending, or over, and it is over
// once: answered, expired, cancelled by its client, or failed with its upstream. Its
// client gets exactly one answer for it, or none if it cancelled or went. What an
// upstream says about a call that is over is late: counted and dropped.
//
// # Locks
//
// Session.mu guards the list of the session's calls, backend.mu the state of the way
// to a server, a shard's lock a part of the table. None is held while another one is
// taken, while anything is sent, or while a callback runs.
package gateway
