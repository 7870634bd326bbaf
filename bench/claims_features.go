package bench

import (
	"time"

	"github.com/correlator-go/correlator/bench/claim"
)

const featuresArea = "features"

// featureClaims are what each feature costs that is off by default, beside the same
// work with everything off, which stands first.
func featureClaims() []claim.Claim {
	onEngine := onSeries(func(s *claim.Session) (*claim.Series, error) {
		var contenders []claim.Contender
		for _, f := range engineFeatures {
			contenders = append(contenders, role(s, f.name, "feature", "engine", f.name, "150ms"))
		}
		return s.Series("features of the engine", contenders...)
	})
	onConn := onSeries(func(s *claim.Session) (*claim.Series, error) {
		address, stop, err := s.Serve("echo")
		if err != nil {
			return nil, err
		}
		defer stop()
		var contenders []claim.Contender
		for _, f := range connFeatures {
			contenders = append(contenders, role(s, f.name, "feature", "conn", f.name, "500ms", address))
		}
		return s.SeriesOf("features of a connection", 3, contenders...)
	})
	off := engineFeatures[0].name
	all := []claim.Claim{{Area: featuresArea, Name: "engine: " + off, Unit: "ns of CPU", Measure: onEngine.median(off, "ns")}}
	for _, f := range engineFeatures[1:] {
		all = append(all, claim.Claim{Area: featuresArea, Name: "engine: " + f.name, Unit: "of its CPU", Measure: onEngine.ratio(f.name, "ns", off, "ns")})
	}
	off = connFeatures[0].name
	all = append(all,
		claim.Claim{Area: featuresArea, Name: "connection: " + off, Unit: "ns of CPU", Measure: onConn.median(off, "cpu")},
		claim.Claim{Area: featuresArea, Name: "connection: " + off + ", allocations", Unit: "allocs", Measure: onConn.median(off, "allocs")})
	for _, f := range connFeatures[1:] {
		all = append(all,
			claim.Claim{Area: featuresArea, Name: "connection: " + f.name, Unit: "of its CPU", Measure: onConn.ratio(f.name, "cpu", off, "cpu")},
			claim.Claim{Area: featuresArea, Name: "connection: " + f.name + ", allocations", Unit: "allocs", Measure: onConn.median(f.name, "allocs")})
	}
	onServer := onSeries(func(s *claim.Session) (*claim.Series, error) {
		var contenders []claim.Contender
		for _, f := range serveFeatures {
			contenders = append(contenders, role(s, f.name, "feature", "server", f.name, "500ms"))
		}
		return s.SeriesOf("features of a server", 3, contenders...)
	})
	off = serveFeatures[0].name
	all = append(all, claim.Claim{Area: featuresArea, Name: "server and client: " + off, Unit: "ns of CPU", Measure: onServer.median(off, "cpu")})
	for _, f := range serveFeatures[1:] {
		all = append(all, claim.Claim{Area: featuresArea, Name: "server and client: " + f.name, Unit: "of its CPU", Measure: onServer.ratio(f.name, "cpu", off, "cpu")})
	}
	return all
}

// featureRole measures one feature. Its arguments: engine, conn or server; the feature's
// name; the time; the server's address for a conn.
func featureRole(args []string) (claim.Values, error) {
	if len(args) < 3 {
		return nil, errFeature(args)
	}
	d, err := time.ParseDuration(args[2])
	if err != nil {
		return nil, err
	}
	switch {
	case args[0] == "engine" && len(args) == 3:
		for _, f := range engineFeatures {
			if f.name == args[1] {
				return claim.Values{"ns": engineFeatureCost(f, d)}, nil
			}
		}
	case args[0] == "server" && len(args) == 3:
		for _, f := range serveFeatures {
			if f.name == args[1] {
				return serveFeatureCost(f, d)
			}
		}
	case args[0] == "conn" && len(args) == 4:
		for _, f := range connFeatures {
			if f.name == args[1] {
				return connFeatureCost(f, args[3], d)
			}
		}
	}
	return nil, errFeature(args)
}
