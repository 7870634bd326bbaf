// Package link has what the adapters of this module share: framings that the
// libraries have and package codec has not, a stream made of a library's own
// messages, and the options of a connection that behaves as those libraries do.
//
//	Values    JSON texts behind each other, with or without newlines between them
//	Varint    a length as a varint before each message
//	Typed     Content-Length headers with a Content-Type
//	Carry     a stream of lines over anything that sends and receives messages
//	Settle    the defaults
package link
