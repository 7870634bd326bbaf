package drive

import (
	"errors"
	"fmt"
	"time"

	"github.com/correlator-go/correlator/internal/load/plan"
	"github.com/correlator-go/correlator/internal/load/tally"
)

// Mode is the way calls are made.
type Mode uint8

// The modes. Batch is the zero value.
const (
	Batch    Mode = iota // Conn.Submit with callbacks
	Callback             // Conn.Start, one call at a time
	Blocking             // a goroutine per caller in Conn.Call
)

// String gives the word of the -mode flag.
func (m Mode) String() string { return [...]string{"batch", "callback", "blocking"}[m] }

// ParseMode reads what String prints.
func ParseMode(text string) (Mode, error) {
	for m := Batch; m <= Blocking; m++ {
		if text == m.String() {
			return m, nil
		}
	}
	return 0, fmt.Errorf("mode %q: want batch, callback or blocking", text)
}

// End says what happens to calls in flight when the sending is over.
type End uint8

// The ends. Wait is the zero value.
const (
	Wait End = iota // for their answers, at most until their timeout
	Cut             // close the connection and count them as cancelled
)

// String gives the word of the -end flag.
func (e End) String() string { return [...]string{"wait", "cut"}[e] }

// ParseEnd reads what String prints.
func ParseEnd(text string) (End, error) {
	for e := Wait; e <= Cut; e++ {
		if text == e.String() {
			return e, nil
		}
	}
	return 0, fmt.Errorf("end %q: want wait or cut", text)
}

const (
	// BehindAfter is how long after its planned time a call of an open loop may
	// be sent without being counted as behind: about what a timer costs.
	BehindAfter = time.Millisecond
	// InFlightMax bounds Config.InFlight.
	InFlightMax = 1 << 20
)

// Config is one run. It is not changed.
type Config struct {
	Mode Mode
	// Schedule plans an open loop, warm-up included. nil is a closed loop.
	// A schedule serves one run.
	Schedule *plan.Schedule
	// InFlight is the number of callers of a closed loop and the most calls in
	// flight of an open one, 1 to InFlightMax, over all connections together.
	InFlight int
	// Drop drops what is due while InFlight calls are out instead of sending it
	// behind its time. Open loop only.
	Drop bool
	// Warmup is the time at the beginning that is not measured.
	Warmup time.Duration
	// Duration ends the sending this long after the warm-up; 0 does not. What an
	// open loop had due by then and finds no room for is dropped. A schedule that
	// ends earlier ends the sending when all of it was sent.
	Duration time.Duration
	// Requests ends the sending after this many requests, those of the warm-up
	// aside; 0 does not.
	Requests int64
	// Timeout of each call; 0 is the connection's, negative none.
	Timeout time.Duration
	// End says what happens to the calls in flight then.
	End End

	// Mix is what is sent; nil sends Method with Payload every time.
	Mix     *plan.Mix
	Method  string
	Payload *plan.Payload
	// Refused reports whether the result of a tool (plan.Entry.Tool) says that the
	// call failed. nil is never. It must not keep the bytes, and may be called
	// concurrently.
	Refused func(result []byte) bool
	// Progress asks for progress with each call.
	Progress bool

	// Interval is the length of a row; 0 is a second.
	Interval time.Duration
	// Histograms keeps the histograms of each row, a few kilobytes a row.
	Histograms bool
	// OnRow sees each row as it ends, from a goroutine of the run.
	OnRow func(tally.Row)
	// Control steers the run while it goes on; nil if nobody does.
	Control *Control
	// OnEvent sees what Control did, from a goroutine of the run, which waits for it.
	OnEvent func(Event)
	// Sleep waits for a time too short for a timer, as [PreciseSleep] does. nil
	// uses timers for everything, which testing/synctest needs.
	Sleep func(time.Duration)
}

var (
	errInFlight = fmt.Errorf("drive: in flight must be between 1 and %d", InFlightMax)
	errEndless  = errors.New("drive: neither a duration nor a number of requests ends the run")
	errDrop     = errors.New("drive: only an open loop can drop")
)

func (c Config) withDefaults() (Config, error) {
	switch {
	case c.InFlight < 1 || c.InFlight > InFlightMax:
		return c, errInFlight
	case c.Schedule == nil && c.Duration <= 0 && c.Requests <= 0:
		return c, errEndless
	case c.Drop && c.Schedule == nil:
		return c, errDrop
	}
	if c.Mix == nil {
		if c.Payload == nil {
			c.Payload = plan.FixedPayload(nil)
		}
		c.Mix = plan.Single(c.Method, c.Payload)
	}
	if c.Interval <= 0 {
		c.Interval = time.Second
	}
	return c, nil
}
