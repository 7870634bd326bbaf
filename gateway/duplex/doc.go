// Package duplex is a link of the gateway over one conn.Conn: a child process, a
// socket, a WebSocket, standard input and output. The same type serves both sides,
// since on a duplex connection they differ in nothing but who receives.
package duplex
