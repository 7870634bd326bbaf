// Package route decides where messages of the gateway belong and what has to change
// in them on the way. It has no I/O, no clock and no goroutine: tables, edits and
// verdicts only.
//
// These are rewritten, each by a splice that leaves every other byte as it
// was, and restored in the type and the spelling in which they came:
//
//	key                                   to the upstream        back to the client
//	request id                            the call's id          Echo of the client's
//	_meta.progressToken                   the call's id          Echo of the client's
//	_meta …/subscriptionId                –                      Echo of the client's
//	notifications/cancelled requestId     the call's id          the client's of a reverse request
//	id of a server's request              Echo of the server's   a number of the session's
//	progress token of a server's request  Echo of the server's   a number of the session's
//
// That each of them stands once at its level, and params.name and params.uri with
// them, is what codec.Scan has made sure of before a message comes here: a frame
// with a second one was refused with -32600.
package route
