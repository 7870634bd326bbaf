package main

import (
	"flag"
	"io"
	"time"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/internal/echo"
	"github.com/correlator-go/correlator/internal/load/drive"
	"github.com/correlator-go/correlator/internal/load/plan"
	"github.com/correlator-go/correlator/internal/load/slo"
	"github.com/correlator-go/correlator/internal/load/target"
)

// settings is a load test as the command line asks for it.
type settings struct {
	flags   *flag.FlagSet
	words   words
	args    []string
	target  string
	spec    target.Spec
	conns   int
	framing string
	framer  codec.Framer
	profile codec.Profile
	drive   drive.Config
	stages  []plan.Stage // of the open loop, without the warm-up
	mcp     bool
	greet   target.Greeting // of an MCP server
	prelude []plan.Step     // what each peer is told before the load
	seed    uint64
	method  string // what is sent, for a person
	payload string
	shape   echo.Shape
	goals   []slo.Goal
	search  []slo.Goal // of -search, nil without
	start   float64    // the rate of its first probe
	repeat  int
	// requests are what is sent: those of -mix, or the one that the flags describe.
	requests []plan.Request

	output       string
	hdr, hlog    string
	quiet        bool
	peerCounters bool
	watchers     []watcher
}

// The defaults that help names.
const (
	defaultInFlight = 1024
	defaultDuration = 5 * time.Second
	defaultWarmup   = 500 * time.Millisecond
	defaultTimeout  = 10 * time.Second
	defaultSize     = "100"
	defaultTool     = "echo"
	defaultMethod   = "echo"
	// lateAfter is how long after the client's timeout pipe:echo answers late.
	lateAfter = 100 * time.Millisecond
	// endless is the length of a schedule that a number of requests ends.
	endless = 10_000 * time.Hour
)

// words are the flags that need a second look once all are known.
type words struct {
	rate, stages, mode, end, profile, slo, search, era string
	method, size, body, tool, args, mix, prelude       string
	duration, warmup                                   time.Duration
	set                                                map[string]bool
	looking                                            []watcher
}

func newSettings(stdout io.Writer) *settings {
	s := &settings{}
	w := &s.words
	f := flagSet("loadgen run", helpRun, stdout)
	s.flags = f
	f.StringVar(&s.target, "target", target.Default, "what to load")
	f.IntVar(&s.conns, "conns", 1, "how many connections")
	f.StringVar(&s.framing, "framing", "line", "line, headers or length")
	f.StringVar(&w.profile, "profile", "mcp", "mcp, jsonrpc or lsp")
	f.StringVar(&w.rate, "rate", "", "requests a second of an open loop")
	f.StringVar(&w.stages, "stages", "", "stages of an open loop")
	f.StringVar(&w.search, "search", "", "find the highest rate at which these goals hold")
	f.IntVar(&s.drive.InFlight, "c", defaultInFlight, "most calls in flight")
	f.BoolVar(&s.drive.Drop, "drop", false, "drop what exceeds the calls in flight")
	f.StringVar(&w.mode, "mode", "batch", "batch, callback or blocking")
	f.DurationVar(&w.duration, "d", defaultDuration, "how long")
	f.Int64Var(&s.drive.Requests, "n", 0, "how many requests")
	f.DurationVar(&w.warmup, "warmup", defaultWarmup, "time that is not measured")
	f.DurationVar(&s.drive.Timeout, "timeout", defaultTimeout, "of a call; negative: none")
	f.StringVar(&w.end, "end", "wait", "wait or cut")
	f.IntVar(&s.repeat, "repeat", 1, "how many times")
	f.StringVar(&w.method, "method", defaultMethod, "of the requests")
	f.StringVar(&w.size, "size", defaultSize, "bytes of params")
	f.StringVar(&w.body, "body", "", "params as JSON, or @file")
	f.StringVar(&w.mix, "mix", "", "file with several kinds of requests")
	f.StringVar(&w.prelude, "prelude", "", "file with messages that go ahead of the load")
	f.BoolVar(&s.mcp, "mcp", false, "greet as an MCP client and call a tool")
	f.StringVar(&w.era, "era", "auto", "of MCP: auto, modern or older")
	f.StringVar(&w.tool, "tool", defaultTool, "the tool to call")
	f.StringVar(&w.args, "args", "", "its arguments as JSON")
	f.BoolVar(&s.drive.Progress, "want-progress", false, "ask for progress")
	f.Uint64Var(&s.seed, "seed", 1, "of everything random")
	f.StringVar(&w.slo, "slo", "", "goals; exit 3 if one is missed")
	f.StringVar(&s.output, "o", "", "file for everything as JSON; - is standard output")
	f.StringVar(&s.hdr, "hdr", "", "file for percentiles")
	f.StringVar(&s.hlog, "hlog", "", "file for histograms by second")
	f.BoolVar(&s.quiet, "quiet", false, "no line while it runs")
	f.BoolVar(&s.peerCounters, "peer-counters", false, "compare with the counters of loadgen serve")
	shapeFlags(f, &s.shape)
	w.looking = newWatchers()
	for _, x := range w.looking {
		x.flags(f)
	}
	return s
}
