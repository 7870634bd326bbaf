// Command loadgen sends JSON-RPC or MCP requests to a peer and reports rates,
// latencies, costs and an accounting that must add up. Without arguments it
// loads an echo server in its own process for about five seconds.
//
// docs/loadgen.md describes it; loadgen -h lists the flags.
package main
