// Package interop holds correlator's tests against real peers, as a module of
// its own so that the peers' requirements stay out of the library's.
//
//   - go-sdk: our connection is the raw peer of its server, and a minimal MCP
//     server to its client.
//   - server-everything, over the standard input and output of a child process.
//     It needs Node and what "make peers" installs; without that its tests are
//     skipped, or fail if CORRELATOR_REQUIRE_PEERS is 1.
//
// "make interop" runs them.
package interop
