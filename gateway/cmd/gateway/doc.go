// Command gateway lets many clients share a few MCP or JSON-RPC servers.
//
//	gateway [flags] -- COMMAND [ARG...]   share one server at http://127.0.0.1:8808/mcp
//	gateway run [FILE]                    run what a file says (gateway.yaml)
//	gateway check [FILE]                  say what is wrong with it, with its lines
//	gateway init [FILE]                   write one to begin with
//	gateway schema                        print the JSON Schema of the file
//	gateway token                         make a bearer token and its hash
//
// SIGHUP lets a running gateway read its file again, without dropping calls. SIGTERM
// and SIGINT let calls in flight end, while /readyz says 503. The exit code is 0 after
// that, 1 when something failed and 2 when the command line or the file is wrong.
package main
