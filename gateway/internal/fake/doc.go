// Package fake is a server and a client for the gateway's tests: they remember what
// they were sent and say what they are told to, on the caller's goroutine.
package fake
