package codec

import (
	"fmt"
	"strconv"
)

// Profile chooses the rules on which JSON-RPC dialects differ.
//
//	                            MCP              JSONRPC         LSP
//	integer id beyond int64     raw text         raw text        raw text
//	fraction, exponent in id    refused          raw text        raw text
//	method beside "id":null     notification     request         request
//	                            + FlagNullID     + FlagNullID    + FlagNullID
//	members read inside params  _meta,           none            id
//	                            progressToken,
//	                            requestId,
//	                            name, uri
//	members read in result      _meta            none            none
//
// A null id beside a method in the MCP profile is for the application's side to
// judge: a client takes the frame for a notification, a server refuses it with
// [CodeInvalidRequest]. In the other profiles it is answered with "id":null.
type Profile uint8

// The profiles; MCP is the zero value.
const (
	MCP Profile = iota
	JSONRPC
	LSP
)

// String gives the name of p.
func (p Profile) String() string {
	switch p {
	case MCP:
		return "MCP"
	case JSONRPC:
		return "JSON-RPC"
	case LSP:
		return "LSP"
	}
	return "Profile(" + strconv.Itoa(int(p)) + ")"
}

// Known reports whether p is one of the profiles. By any other nothing is read:
// what takes a profile then fails with [ErrUnknownProfile].
func (p Profile) Known() bool { return p <= LSP }

// unknownProfile names a value that is none of the profiles.
func unknownProfile(p Profile) error { return fmt.Errorf("%w: %v", ErrUnknownProfile, p) }

// MaxIDDigits is how many digits a number id may have. A longer one is refused
// with [CodeInvalidRequest]: no peer counts that far, and ids are kept in tables.
const MaxIDDigits = 64
