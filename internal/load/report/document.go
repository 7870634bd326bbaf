package report

import (
	"encoding/json"
	"io"

	hdr "github.com/HdrHistogram/hdrhistogram-go"

	"github.com/correlator-go/correlator/internal/echo"
	"github.com/correlator-go/correlator/internal/load/drive"
	"github.com/correlator-go/correlator/internal/load/tally"
)

// Schema names the form of a Document. The number rises with every change of its
// members: the schema refuses members that it does not know. Since 2 intervals
// have their histograms; since 3 there are late answers per interval, the parts
// of connections and of a mix, and events.
const Schema = "correlator-loadgen/3"

// Document is one run. Times are in seconds where they are long and nanoseconds
// where they are short; the name of a member says which.
type Document struct {
	Schema    string     `json:"schema"`
	Tool      Tool       `json:"tool"`
	Began     string     `json:"began"` // RFC 3339
	Config    Config     `json:"config"`
	Counts    Counts     `json:"counts"`
	Rates     Rates      `json:"rates"`
	Latency   Latency    `json:"latency"`
	Cost      Cost       `json:"cost"`
	Intervals []Interval `json:"intervals"`
	// Connections has a part for each connection where there are several, else none;
	// Fairness compares them, and is null then too.
	Connections []Part    `json:"connections"`
	Fairness    *Fairness `json:"fairness"`
	// Mix has a part for each entry of a mix, none without one.
	Mix []Part `json:"mix"`
	// Events are what was done to the run while it went on, Steering what held at
	// its end. Running is true only while it goes on (see [Live]).
	Events   []drive.Event  `json:"events"`
	Steering drive.Steering `json:"steering"`
	Running  bool           `json:"running"`
	Server   *echo.Counts   `json:"server"` // the echo server's counters for this run, null if they were not asked for
	SLO      []SLO          `json:"slo"`
	Notes    []string       `json:"notes"`    // what the reader should know of the measurement
	Problems []string       `json:"problems"` // contradictions between counters; empty when everything adds up
	Error    string         `json:"error"`    // why the run ended early or says nothing, "" if neither
	Exit     int            `json:"exit"`     // the program's exit code

	response, service *hdr.Histogram // nil until somebody needs them
}

// Tool is what measured, and on what.
type Tool struct {
	Name       string `json:"name"`
	Version    string `json:"version"`
	Go         string `json:"go"`
	OS         string `json:"os"`
	Arch       string `json:"arch"`
	CPU        string `json:"cpu"` // "" where the system does not tell
	CPUs       int    `json:"cpus"`
	GOMAXPROCS int    `json:"gomaxprocs"`
}

// Config is what was asked for.
type Config struct {
	Args        []string `json:"args"` // the command line
	Target      string   `json:"target"`
	Loop        string   `json:"loop"`     // "open" or "closed"
	Schedule    string   `json:"schedule"` // of an open loop, in the words of -stages; "" for a closed one
	Mode        string   `json:"mode"`
	InFlight    int      `json:"inFlight"`
	Drop        bool     `json:"drop"`
	Warmup      float64  `json:"warmupSeconds"`
	Duration    float64  `json:"durationSeconds"` // 0: ended by requests
	Requests    int64    `json:"requests"`        // 0: ended by time
	Timeout     int64    `json:"timeoutNs"`       // negative: none
	End         string   `json:"end"`
	Framing     string   `json:"framing"` // line, headers, length, or http
	Connections int      `json:"connections"`
	Method      string   `json:"method"`
	Payload     string   `json:"payload"`
	MCP         string   `json:"mcp"`    // the revision in force, "" without -mcp
	Peer        string   `json:"peer"`   // what an MCP server calls itself
	Faults      string   `json:"faults"` // of pipe:echo, "" for none
	Seed        uint64   `json:"seed"`
	InProcess   bool     `json:"inProcess"` // the peer ran in the generator's process
}

// Counts is the accounting. Everything includes the warm-up, except Measured.
type Counts struct {
	Planned   int64      `json:"planned"` // requests that were due; in a closed loop, asked for
	Sent      int64      `json:"sent"`
	Dropped   int64      `json:"dropped"` // due and not sent
	Behind    int64      `json:"behind"`  // sent more than 1 ms after their planned time
	Held      int64      `json:"held"`    // the part of behind that waited for room in flight
	Unsent    int64      `json:"unsent"`  // calls that ended before they were written: the peer never saw them
	Ends      tally.Ends `json:"ends"`
	Measured  tally.Ends `json:"measured"`
	Late      int64      `json:"late"`      // answers to calls that had ended
	Duplicate int64      `json:"duplicate"` // second answers
	Unknown   int64      `json:"unknown"`   // answers under ids that were never given
	Progress  int64      `json:"progress"`  // progress notifications received
	// AtFinish is the calls in flight when the sending was over. They were waited
	// for, or, if Cut, given up: those that had no answer then are the cancelled ones.
	AtFinish int64 `json:"inFlightAtFinish"`
	InFlight int64 `json:"inFlightAtEnd"` // 0, unless something is wrong
	Cut      bool  `json:"cut"`
}

// Rates are per second of the measured time.
type Rates struct {
	Seconds  float64 `json:"seconds"`  // from the end of the warm-up until the sending was over
	Elapsed  float64 `json:"elapsed"`  // seconds from the beginning until nothing was in flight
	Paused   float64 `json:"paused"`   // seconds of pauses, which are in Elapsed and not in Seconds
	Answered float64 `json:"answered"` // calls answered, errors among them
	Offered  float64 `json:"offered"`  // calls sent
	Asked    float64 `json:"asked"`    // calls planned; in a closed loop the same as offered
}

// Latency is both tables.
type Latency struct {
	Response Distribution `json:"response"` // from when a call was due
	Service  Distribution `json:"service"`  // from when it was sent
}

// Interval is a row with its histograms, which are "" if the run did not keep
// them. Its members stand for those of the row under the same names.
type Interval struct {
	tally.Row
	Response Distribution `json:"response"`
	Service  Distribution `json:"service"`
}

// Part is what became of the measured calls of one connection, or of one entry of
// a mix. Its figures have two significant digits; it has the response times.
type Part struct {
	Name     string        `json:"name"`
	Share    float64       `json:"share"` // of the load, as asked: 0 to 1
	Ends     tally.Ends    `json:"ends"`
	Rate     float64       `json:"rate"` // calls answered a second
	Response tally.Summary `json:"response"`
}

// Fairness is the least and the most that a connection got.
type Fairness struct {
	RateLeast float64 `json:"rateLeast"` // calls answered a second
	RateMost  float64 `json:"rateMost"`
	P50Least  int64   `json:"p50LeastNs"` // response time
	P50Most   int64   `json:"p50MostNs"`
	P99Least  int64   `json:"p99LeastNs"`
	P99Most   int64   `json:"p99MostNs"`
}

// Distribution is the figures and the whole histogram of one latency.
type Distribution struct {
	tally.Summary
	Histogram string `json:"histogram"` // HdrHistogram V2, compressed, base64; nanoseconds
}

// Cost is what the generator's process spent on the measured calls.
type Cost struct {
	Calls    int64    `json:"calls"`
	CPU      *float64 `json:"cpuNsPerCall"` // null where the system does not tell
	Busy     *float64 `json:"busy"`         // share of all processors, 0 to 1; null as above
	Allocs   float64  `json:"allocsPerCall"`
	Heap     float64  `json:"heapBytesPerCall"`
	BytesOut float64  `json:"bytesOutPerCall"`
	BytesIn  float64  `json:"bytesInPerCall"`
	Writes   float64  `json:"writesPerCall"`
	GC       uint32   `json:"gc"` // collections in all
}

// SLO is one judged goal.
type SLO struct {
	Goal     string   `json:"goal"`
	Measured *float64 `json:"measured"` // nanoseconds, shares, counts or per second; null if it was not measured
	Text     string   `json:"text"`     // the same for a person
	Pass     bool     `json:"pass"`
}

// Write writes d as indented JSON.
func (d *Document) Write(w io.Writer) error { return writeJSON(w, d) }

func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}
