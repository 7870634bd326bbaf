// Package server holds the other ends that clients are measured against: an echo
// for every protocol, each as raw as can be, so that what a measurement shows is
// the client.
//
// What speaks JSON-RPC 2.0 in lines is answered by the server that the project's
// own measurements use (internal/echo). The others have the same shape: read what
// is there, append an answer for each request to one buffer, write that once
// before waiting again; no table, no goroutine, no lock per request. Only grpc has
// to bring its own server, since HTTP/2 is not to be had rawer.
//
// A client asks for [Stuck] instead of echo when it wants no answer: [Dropping]
// leaves those requests out.
package server
