package bench

import (
	"slices"
	"strings"

	"github.com/correlator-go/correlator/bench/claim"
	"github.com/correlator-go/correlator/bench/rival"
)

const (
	codecArea = "codec"
	stopText  = "codec, one text"
)

// onSeries makes claims that read one series.
type onSeries func(*claim.Session) (*claim.Series, error)

func (of onSeries) ratio(a, metricA, b, metricB string) func(*claim.Session) (float64, error) {
	return func(s *claim.Session) (float64, error) {
		series, err := of(s)
		return series.RatioOf(a, metricA, b, metricB), err
	}
}

func (of onSeries) median(contender, metric string) func(*claim.Session) (float64, error) {
	return func(s *claim.Session) (float64, error) {
		series, err := of(s)
		return series.Median(metric, contender), err
	}
}

func (of onSeries) largest(contender, metric string) func(*claim.Session) (float64, error) {
	return func(s *claim.Session) (float64, error) {
		series, err := of(s)
		return series.Largest(metric, contender), err
	}
}

func codecClaims() []claim.Claim {
	return append(append(decodeClaims(), encodeClaims()...), streamClaims()...)
}

// decodeDemands are the factors by which one way to decode must be faster than
// another, by shape. What stands here without a demand is shown.
var decodeDemands = map[string]map[string]map[string]float64{
	ourName: {
		"A":   {stdName: 28, sonicStdName: 0, sonicDefaultName: 6},
		"B":   {stdName: 8, sonicStdName: 2, sonicDefaultName: 1.7},
		"C":   {stdName: 22, sonicStdName: 1.6, sonicDefaultName: 1.4},
		"D":   {stdName: 7, sonicStdName: 1.6, sonicDefaultName: 1.6},
		"mix": {stdName: 11, reusingName: 0, sonicStdName: 2, sonicDefaultName: 1.8},
		"E1":  {stdName: 0, sonicStdName: 1.3, sonicDefaultName: 0, indexByteName: 0.4},
		"E2":  {stdName: 0, sonicStdName: 0.9, sonicDefaultName: 0},
		"E3":  {stdName: 0, sonicStdName: 0.85, sonicDefaultName: 0, validUTF8Name: 5},
		"F":   {stdName: 6.5, sonicStdName: 1.6, sonicDefaultName: 0},
	},
	portableName: {
		"A":   {stdName: 22, reusingName: 0, sonicStdName: 0},
		"B":   {stdName: 8, reusingName: 0, sonicStdName: 0},
		"C":   {stdName: 12, reusingName: 0, sonicStdName: 0},
		"D":   {stdName: 0, reusingName: 0, sonicStdName: 1.1},
		"mix": {stdName: 7.5, reusingName: 0, sonicStdName: 1.25, sonicDefaultName: 0},
	},
	trustingName: {
		"B": {sonicFastestName: 3},
		"C": {sonicFastestName: 2},
		"D": {sonicFastestName: 2},
	},
}

func decodeClaims() []claim.Claim {
	ours := []string{ourName, portableName, trustingName}
	rivals := []string{stdName, reusingName}
	if rival.HaveSonic {
		rivals = append(rivals, sonicStdName, sonicDefaultName, sonicFastestName)
	}
	rivals = append(rivals, indexByteName, validUTF8Name)
	decode := onSeries(func(s *claim.Session) (*claim.Series, error) {
		var contenders []claim.Contender
		for _, n := range append(slices.Clone(ours), rivals...) {
			contenders = append(contenders, role(s, n, "decode", n))
		}
		return s.Series("decode", contenders...)
	})
	var all []claim.Claim
	for _, way := range ours {
		name, _ := strings.CutPrefix(way, ourName)
		for _, s := range shapes {
			scan := "scan" + name + " " + s.letter
			demands, ok := decodeDemands[way][s.letter]
			if !ok {
				continue
			}
			all = append(all,
				claim.Claim{Area: codecArea, Name: scan, Unit: "ns", Measure: decode.median(way, s.letter)},
				claim.Claim{Area: codecArea, Name: scan + ": allocations", Bound: claim.AtMost, Demand: 0.001, Unit: "allocs",
					Measure: decode.largest(way, s.letter+" allocs")})
			for _, n := range rivals {
				demand, ok := demands[n]
				if !ok {
					continue
				}
				c := claim.Claim{Area: codecArea, Name: scan + ": faster than " + n, Unit: "times", Measure: decode.ratio(n, s.letter, way, s.letter)}
				if n == indexByteName {
					c.Name, c.Unit = scan+": against "+n, "of its speed"
				}
				if demand > 0 {
					c.Bound, c.Demand = claim.AtLeast, demand
				}
				all = append(all, c)
			}
		}
	}
	return all
}

func encodeClaims() []claim.Claim {
	encode := onSeries(func(s *claim.Session) (*claim.Series, error) {
		return s.Series("encode", role(s, ourName, "encode"))
	})
	splice := onSeries(func(s *claim.Session) (*claim.Series, error) {
		return s.Series("splice", role(s, ourName, "splice"))
	})
	all := []claim.Claim{
		{Area: codecArea, Name: "encode a request of 192 bytes", Unit: "ns", Measure: encode.median(ourName, ourName)},
		{Area: codecArea, Name: "encode a request: allocations", Bound: claim.AtMost, Demand: 0.001, Unit: "allocs", Measure: encode.largest(ourName, "allocs")},
		{Area: codecArea, Name: "encode a request: faster than encoding/json", Bound: claim.AtLeast, Demand: 28, Unit: "times",
			Measure: encode.ratio(ourName, stdName, ourName, ourName)},
		{Area: codecArea, Name: "encode a request around 1 MiB: against memcpy", Bound: claim.AtLeast, Demand: 0.9, Unit: "of its speed",
			Measure: encode.ratio(ourName, "memcpy 1 MiB", ourName, ourName+" 1 MiB")},
	}
	if rival.HaveSonic {
		all = append(all, claim.Claim{Area: codecArea, Name: "encode a request: faster than sonic ConfigFastest", Bound: claim.AtLeast, Demand: 5, Unit: "times",
			Measure: encode.ratio(ourName, sonicFastestName, ourName, ourName)})
	}
	for _, size := range []string{"A", "B", "C", "D", "1 MiB"} {
		rewrite := claim.Claim{Area: codecArea, Name: "scan and splice, copying: " + size + ": faster than encoding/json", Unit: "times",
			Measure: splice.ratio(ourName, size+" "+stdName, ourName, size)}
		rewrite.Bound, rewrite.Demand = claim.AtLeast, 18
		if size == "D" {
			rewrite.Demand = 12 // where to decode is but a half of it, and is to be 7 times as fast
		}
		all = append(all, claim.Claim{Area: codecArea, Name: "splice an id in place: " + size, Bound: claim.AtMost, Demand: 25, Unit: "ns",
			Measure: splice.median(ourName, size+" in place")}, rewrite)
	}
	return all
}

func streamClaims() []claim.Claim {
	framing := onSeries(func(s *claim.Session) (*claim.Series, error) {
		return s.Series("framing", role(s, ourName, "framing"))
	})
	pool := onSeries(func(s *claim.Session) (*claim.Series, error) {
		return s.Series("pool", role(s, ourName, "pool"))
	})
	stop := onSeries(func(s *claim.Session) (*claim.Series, error) {
		contenders := []claim.Contender{
			role(s, ourName, "stop", ourName, "objects"), role(s, stopText, "stop", ourName, "text"),
			role(s, trustingName, "stop", trustingName, "objects"),
		}
		if rival.HaveSonic {
			contenders = append(contenders, role(s, "sonic.Valid", "stop", "sonic.Valid", "objects"))
		}
		return s.SeriesOf("stop the world", 3, contenders...)
	})
	// Copying the frame hides what the pool costs, so it is taken off on all sides.
	net := func(size, a, b string) func(*claim.Session) (float64, error) {
		return func(s *claim.Session) (float64, error) {
			series, err := pool(s)
			return series.Compute(func(round map[string]claim.Values) float64 {
				v := round[ourName]
				cost := func(way string) float64 { return v[size+" "+way] - v[size+" copy"] }
				return cost(a) / cost(b)
			}), err
		}
	}
	line := func(rival string) func(*claim.Session) (float64, error) {
		return framing.ratio(ourName, rival, ourName, "line")
	}
	all := []claim.Claim{
		{Area: codecArea, Name: "cut a line, mixed frames", Unit: "ns", Measure: framing.median(ourName, "line")},
		{Area: codecArea, Name: "cut a line: allocations", Bound: claim.AtMost, Demand: 0.001, Unit: "allocs", Measure: framing.largest(ourName, "line allocs")},
		{Area: codecArea, Name: "cut a line: against bufio.ReadSlice", Bound: claim.AtMost, Demand: 1.3, Unit: "of its time",
			Measure: framing.ratio(ourName, "line", ourName, "ReadSlice")},
		{Area: codecArea, Name: "cut a line: faster than ReadBytes", Bound: claim.AtLeast, Demand: 4, Unit: "times", Measure: line("ReadBytes")},
		{Area: codecArea, Name: "cut a line: faster than json.Decoder", Bound: claim.AtLeast, Demand: 65, Unit: "times", Measure: line("json.Decoder")},
		{Area: codecArea, Name: "cut by a length of 4 bytes: faster than bufio and ReadFull", Bound: claim.AtLeast, Demand: 7, Unit: "times",
			Measure: framing.ratio(ourName, "ReadFull", ourName, "length")},
		{Area: codecArea, Name: "read and scan a line, mixed frames", Unit: "ns", Measure: framing.median(ourName, "scanned")},
		{Area: codecArea, Name: "read, scan, retain and release a line", Unit: "ns", Measure: framing.median(ourName, "retained")},
		{Area: codecArea, Name: "read and scan a line: allocations", Bound: claim.AtMost, Demand: 0.001, Unit: "allocs", Measure: framing.largest(ourName, "scanned allocs")},
		{Area: codecArea, Name: "read and scan a line: faster than json.Decoder and encoding/json", Unit: "times",
			Measure: framing.ratio(ourName, "decoder decoded", ourName, "scanned")},
		{Area: codecArea, Name: "pool, small frames: faster than bytebufferpool", Bound: claim.AtLeast, Demand: 5, Unit: "times",
			Measure: net("small", "bytebufferpool", "ours")},
		{Area: codecArea, Name: "pool, small frames: against sync.Pool", Bound: claim.AtMost, Demand: 1.3, Unit: "of its time",
			Measure: net("small", "ours", "sync.Pool")},
		{Area: codecArea, Name: "pool, 1 % of 1 MiB: faster than bytebufferpool", Bound: claim.AtLeast, Demand: 10, Unit: "times",
			Measure: net("1% 1 MiB", "bytebufferpool", "ours")},
		{Area: codecArea, Name: "pool, 1 % of 1 MiB, nothing copied: against sync.Pool", Unit: "of its time",
			Measure: pool.ratio(ourName, "1% 1 MiB ours, empty", ourName, "1% 1 MiB sync.Pool, empty")},
		{Area: codecArea, Name: "pool, 1 % of 1 MiB, copying included: against sync.Pool", Bound: claim.AtMost, Demand: 1.3, Unit: "of its time",
			Measure: pool.ratio(ourName, "1% 1 MiB ours", ourName, "1% 1 MiB sync.Pool")},
		{Area: codecArea, Name: "a frame of 64 MiB is scanned: the world stops within", Bound: claim.AtMost, Demand: 5e6, Unit: "ns", Measure: stop.median(ourName, "ns")},
		{Area: codecArea, Name: "a text of 64 MiB is scanned: the world stops within", Bound: claim.AtMost, Demand: 5e6, Unit: "ns", Measure: stop.median(stopText, "ns")},
		{Area: codecArea, Name: "a frame of 64 MiB is trusted: the world stops within", Bound: claim.AtMost, Demand: 5e6, Unit: "ns", Measure: stop.median(trustingName, "ns")},
	}
	if rival.HaveSonic {
		all = append(all, claim.Claim{Area: codecArea, Name: "sonic.Valid looks at it: the world stops within", Unit: "ns", Measure: stop.median("sonic.Valid", "ns")})
	}
	return all
}
