// Package downstream brings clients to a gateway: standard input and output, unix
// sockets and TCP, WebSockets, Streamable HTTP.
package downstream
