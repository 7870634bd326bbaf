package codec

import (
	"encoding/binary"
	"math"

	"github.com/correlator-go/correlator/internal/invariants"
)

// ScanOptions are the rules of [Scan]. The zero value is strict MCP.
type ScanOptions struct {
	// Profile chooses the dialect; zero is MCP.
	Profile Profile
	// MaxDepth is how many objects and arrays may lie in each other, the
	// message itself counted. 0 means DefaultMaxDepth, negative no bound: then
	// a frame of n bytes can make the scan allocate n/4 bytes.
	MaxDepth int
	// RefuseLoneSurrogates refuses strings that escape half of a surrogate pair
	// ("\ud800"), which RFC 8259 allows but no UTF-8 text can carry.
	RefuseLoneSurrogates bool
	// TrustBody is for peers that are our own children: what stands inside params,
	// result and error is crossed, not validated. Brackets and quotes are followed
	// to where a value ends; whether it is JSON and UTF-8 is for the peer to know.
	// The envelope, params and result as far as their members are looked through,
	// the members that are read, MaxDepth and raw newlines in strings are checked
	// the same. A frame that is accepted without TrustBody is accepted with it, and
	// its message is the same.
	TrustBody bool
	// Portable makes Scan work in pure Go on processors for which there is a faster
	// way, see [ScanEngine]. The outcome is the same. The build tag
	// correlator_portable does so for all.
	Portable bool
}

// DefaultMaxDepth is the depth that ScanOptions.MaxDepth = 0 stands for.
const DefaultMaxDepth = 512

// Scan validates frame in one pass and fills *e with what it found. It
// allocates nothing unless it fails, keeps neither frame nor e, and is safe for
// concurrent use.
//
// The frame must be exactly one JSON text by RFC 8259, in UTF-8, an object, and
// a JSON-RPC message by the rules that the package comment lists. Otherwise the
// error is a *[SyntaxError]: CodeParse exactly when the frame is no JSON text
// (or too deep), CodeInvalidRequest when it is one but no message. A frame that
// begins with '[' gives [ErrBatch], its content unread. An unknown profile is
// [ErrUnknownProfile] for whatever frame.
//
// After an error e.Kind is KindInvalid. e.RawID, IDKind and IntID hold the id
// whenever one could be read before the trouble, unambiguously and in a form
// that may be sent back; the other fields are what had been seen by then, good
// for a log line and nothing else.
func Scan(frame []byte, e *Envelope, o ScanOptions) error {
	*e = Envelope{}
	if !o.Profile.Known() {
		return unknownProfile(o.Profile)
	}
	at, seen := opening(frame, e)
	if seen == sawVersion|sawID && o.MaxDepth != 1 && shortAnswer(frame, at, e) {
		return nil
	}
	var s scanner // assigned field by field: a literal is built elsewhere and copied, which costs a quarter of a short frame
	s.e, s.profile, s.lone, s.trust = e, o.Profile, o.RefuseLoneSurrogates, o.TrustBody
	s.maxDepth = depthOf(o.MaxDepth)
	s.engine = fastest(o.Portable)
	s.plain = s.isPlain(len(frame))
	return s.scan(frame, at, seen)
}

// scan is Scan once the scanner is set up and the members that were seen, which end
// before at, are noted.
func (s *scanner) scan(frame []byte, at int, seen uint8) error {
	at, p := s.message(frame, at, seen)
	if p == fine {
		if invariants.Enabled {
			s.check(frame)
		}
		return nil
	}
	return s.failure(frame, at, p)
}

// depthOf reads ScanOptions.MaxDepth. It is no method: options that are copied for one
// are read again before they are written, which stalls for a tenth of a short frame.
func depthOf(most int) int {
	switch {
	case most == 0:
		return DefaultMaxDepth
	case most < 0:
		return math.MaxInt
	}
	return most
}

// scanner is the state of one pass. Positions and the frame travel in
// arguments, which are registers; what lies here is touched rarely.
type scanner struct {
	e        *Envelope
	maxDepth int
	faultAt  int  // where fault lies
	named    Span // params.name and params.uri, before the method is known
	uri      Span
	sub      Span // the subscription id of result; e.Subscription is that of params
	fault    problem
	seen     uint8 // envelope members
	profile  Profile
	engine   engine
	tiny     uint8 // bodies that masks were not worth
	lone     bool
	trust    bool
	plain    bool // bodies are for skip: none is trusted or long
	deep     bitstack
}

// blame records the first thing for which a frame that is JSON is refused.
func (s *scanner) blame(p problem, at int) {
	if s.fault == fine {
		s.fault, s.faultAt = p, at
	}
}

// failure is the cold end of Scan.
func (s *scanner) failure(frame []byte, at int, p problem) error {
	s.e.Kind = KindInvalid
	if p == errNotObject && frame[at] == '[' {
		return ErrBatch
	}
	return newSyntaxError(p, at)
}

// message scans the whole frame, from i on if members were seen already. When the
// frame is JSON, it ends with the verdict of judge.
func (s *scanner) message(b []byte, i int, seen uint8) (int, problem) {
	if uint64(len(b)) > math.MaxUint32 {
		return 0, errLong
	}
	var p problem
	switch {
	case seen == 0:
		if i = s.space(b, 0); i == len(b) {
			return i, errEmpty
		}
		if b[i] != '{' {
			return s.notObject(b, i)
		}
		i, p = s.envelope(b, i+1)
	case atResult(b, i):
		if i, p = s.result(b, i+len(thenResult)); p != fine {
			return i, p
		}
		seen |= sawResult
		fallthrough
	default:
		i, p = s.envelopeMembers(b, i, seen)
	}
	if p != fine {
		return i, p
	}
	if i < len(b) {
		if i = s.space(b, i); i < len(b) {
			return i, errTrailing
		}
	}
	return s.judge(b)
}

// notObject tells a JSON text that is no message from one that is no JSON.
func (s *scanner) notObject(b []byte, i int) (int, problem) {
	if b[i] == '[' {
		return i, errNotObject
	}
	end, p := s.skip(b, i, 0)
	if p.bad() {
		return end, p
	}
	if end = s.space(b, end); end < len(b) {
		return end, errTrailing
	}
	return i, errNotObject
}

// space returns the index of the first byte from i on that is no whitespace. It
// is not inlined, since callers that hurry look at the byte first.
//
//go:noinline
func (s *scanner) space(b []byte, i int) int {
	for ; i < len(b); i++ {
		switch b[i] {
		case ' ', '\t':
		case '\n', '\r':
			s.e.Flags |= FlagNewline
		default:
			return i
		}
	}
	return i
}

// fits reports whether eight bytes of b stand from i on. It is written so that
// the compiler can prove the load that follows to be in bounds; i is never
// negative.
func fits(b []byte, i int) bool { return i >= 0 && i <= len(b)-8 }

// load64 reads the eight bytes of b from i on as one little-endian word: the
// byte at i is the lowest.
func load64(b []byte, i int) uint64 { return binary.LittleEndian.Uint64(b[i:]) }

// window is load64 that may look over the end of b, where it sees zeros: bytes
// that are no digit, no quote and no letter, and that strings must not hold.
func window(b []byte, i int) uint64 {
	if fits(b, i) {
		return load64(b, i)
	}
	return lastWindow(b, i)
}

//go:noinline
func lastWindow(b []byte, i int) uint64 {
	if len(b) >= 8 {
		return load64(b, len(b)-8) >> (8 * uint(i+8-len(b)) & 63)
	}
	var word [8]byte
	copy(word[:], b[i:])
	return load64(word[:], 0)
}
