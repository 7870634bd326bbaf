// Package interop holds correlator's tests against real peers, as a module of
// its own so that the peers' requirements stay out of the library's.
//
// Their clients on our server (examples/everything), and our client on their
// servers, each over standard input and output or a stream, and over HTTP, in both
// eras where the peer has both: lists, calls, progress, 200 calls at once, a call
// given up, subscriptions.
//
//	their client                            our server
//	go-sdk                                  stdio, HTTP; modern, older
//	TypeScript SDK 2 (auto, modern, legacy) stdio, HTTP; modern, older
//	TypeScript SDK 1                        stdio, HTTP; older
//	MCP inspector, with its load test       stdio, HTTP; modern, older
//
//	their server                            our client
//	go-sdk                                  stream, stdio, HTTP; modern, older
//	mcp-go                                  stream, HTTP; modern, older
//	TypeScript SDK 2                        stdio, HTTP; modern, older
//	server-everything                       stdio; older
//
// Beside these, connections alone (package conn) with go-sdk and server-everything:
// a thousand calls at once, odd frames, cancelling.
//
// And all of these at once behind the gateway: 220 clients of go-sdk and the TypeScript
// SDK, in both eras and with the same ids and progress tokens, share server-everything,
// a server of go-sdk, and the two merged; and the gateway under load while its server
// misbehaves and is killed, for 20 s or, by "make soak", ten minutes.
//
// What is written in TypeScript needs Node and what "make peers" installs; without
// that its tests are skipped, or fail if CORRELATOR_REQUIRE_PEERS is 1. The programs
// that drive it are in peers.
//
// "make interop" runs them.
package interop
