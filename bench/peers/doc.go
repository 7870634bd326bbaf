// Peers compares the library with everything that Go programs use in its place:
// MCP SDKs, JSON-RPC libraries, other protocols' clients, and the floors that no
// client can beat.
//
//	peers run [-full] [-json FILE]       measure, print tables
//	peers check [-json FILE]             measure what the demands are about; exit 1 when one does not hold
//	peers judge FILE                     judge what was measured before
//	peers chart -out FILE.svg FILE       draw the headline chart
//
// README.md says how each contender is configured and why.
package main
