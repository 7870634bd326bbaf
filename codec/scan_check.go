package codec

import "github.com/correlator-go/correlator/internal/invariants"

// check proves, under the tag invariants, what users of an accepted frame build on:
//
// S2: every span lies inside the frame, an inner one inside params or result.
// S3: a request or notification has a method and neither result nor error; a
// result has no error and an error no result, and neither has a method.
func (s *scanner) check(b []byte) {
	e := s.e
	whole := Span{0, uint32(len(b))}
	inside := func(name string, in, outer Span) {
		ok := !in.Present() || outer.Off <= in.Off && in.Off < in.End && in.End <= outer.End
		invariants.Check(ok, "S2: %s %v outside %v", name, in, outer)
	}
	for _, in := range []Span{e.RawID, e.Method, e.Params, e.Result, e.Error} {
		inside("member", in, whole)
	}
	for _, in := range []Span{e.Token, e.Progress, e.RequestID, e.Name} {
		inside("parameter", in, e.Params)
	}
	switch e.Kind {
	case KindRequest, KindNotification:
		inside("subscription", e.Subscription, e.Params)
		invariants.Check(s.seen&sawMethod != 0 && !e.Result.Present() && !e.Error.Present(), "S3: %v with %+v", e.Kind, *e)
	case KindResult:
		inside("subscription", e.Subscription, e.Result)
		invariants.Check(s.seen&sawMethod == 0 && !e.Error.Present(), "S3: %v with %+v", e.Kind, *e)
	case KindError:
		invariants.Check(s.seen&sawMethod == 0 && e.Error.Present() && !e.Result.Present(), "S3: %v with %+v", e.Kind, *e)
	default:
		invariants.Check(false, "S3: accepted frame of kind %v", e.Kind)
	}
}
