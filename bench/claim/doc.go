// Package claim checks performance claims: it measures each, compares it with
// what is demanded, and says so.
//
// # Claims and series
//
// A [Claim] is one sentence with one number. Its Measure takes that number from
// a [Session], which runs each named series of measurements once, however many
// claims read it:
//
//	claim.Claim{
//		Area: "engine", Name: "1k pending, 1 goroutine, against naive",
//		Bound: claim.AtMost, Demand: 0.22, Unit: "of its time",
//		Measure: func(s *claim.Session) (float64, error) {
//			series, err := s.Series("window-1k", engine, naive)
//			return series.Ratio("ns/op", "engine", "naive"), err
//		},
//	}
//
// A series runs its contenders in turn, several times over, each round in
// another order. [Series.Ratio] is the median of the ratios within a round and
// [Series.Median] the median of the values: a slow phase of the machine falls on
// all contenders of a round, and one bad round moves no median.
//
// # Children
//
// What would tax its neighbours (a million live timers, a large heap) runs in a
// process of its own: [Session.Child] starts the same program again in a role,
// which answers with its [Values] as JSON on standard output. [Session.Serve]
// starts a role that runs until it is stopped, such as a server.
//
// # Report
//
// [Main] prints one line a claim. With -json it prints one object a line:
//
//	{"area":"engine","name":"…","bound":"at most","demand":0.22,"measured":0.17,
//	 "unit":"of its time","verdict":"ok"}
//
// bound is "at most", "at least" or "shown"; a claim that is only shown has no
// demand. verdict is "ok", "short", "shown" or "failed", which comes with error.
package claim
