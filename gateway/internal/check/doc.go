// Command check measures what the gateway promises of its cost, prints what is
// demanded beside what was measured, and exits with 1 where something falls short.
//
// Each contender is a process of its own: an MCP server that echoes, the gateway, a
// proxy that only copies bytes with the same batching of its writes, and proxies that
// the users of mcp-go and go-sdk write. Clients are in this process. All talk over
// unix sockets.
//
// The peak is that of a closed loop. Then an open loop of half the gateway's peak is
// run directly to the server, through the byte copy and through the gateway, in turn,
// several rounds; a proxy's processor time is what its own process used, and what it
// adds to the latency is its median less that of the direct way.
//
// Memory is the bytes of heap spans and of stacks that the gateway's process has in use
// after a collection, less what it had with one client; the kernel's part is not in it.
//
// Two nodes of a cluster are processes, too, around a NATS server in this one: of the one
// that has the server the process is killed, or the line is cut without a word, and the
// time is that until the last call of the other one's clients has failed.
//
// With -quick it takes half a minute and judges what does not depend on what else the
// machine does: allocations of a call, the memory of clients and calls, and how calls at a
// node that has gone end, which is bounded in seconds.
package main
