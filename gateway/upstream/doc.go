// Package upstream opens ways to servers: child processes, sockets, WebSockets,
// Streamable HTTP. Each constructor gives a link.Opener for gateway.Upstream, which
// opens it when it is needed and again when it is lost; nothing here retries.
package upstream
