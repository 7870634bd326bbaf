package mcp

import (
	"math"
	"sync/atomic"
)

// ExchangeID names one exchange: what came in as one frame and everything that
// goes out for it. It is unique in the process, rises, and is taken before the
// frame is parsed, so that a malformed one has somewhere to be answered. The ids
// that peers choose name nothing here but what a cancellation is about.
//
// The zero value is no exchange: it is where notifications go that belong to a
// whole session of the older era.
type ExchangeID int64

var lastExchange atomic.Int64

// NewExchangeID takes the next id of the process; the first is 1. It is safe for
// concurrent use.
func NewExchangeID() ExchangeID { return ExchangeID(lastExchange.Add(1)) }

// Int is the id as a number, for logs and tables.
func (id ExchangeID) Int() int64 { return int64(id) }

// InvocationID names one run of a handler. It follows from its exchange, so it is
// as unique, and the same inputs give the same ids.
type InvocationID int64

// An InvocationID is its exchange and the number of the run within it: a batch
// runs many handlers, and a request of the older era runs its handler again when
// the client gave the input that it asked for.
const (
	runBits     = 16
	mostRuns    = 1<<runBits - 1
	maxExchange = ExchangeID(math.MaxInt64 >> runBits)
)

func invocationOf(exchange ExchangeID, run uint16) InvocationID {
	return InvocationID(int64(exchange)<<runBits | int64(run))
}

// Int is the id as a number, for logs and tables.
func (id InvocationID) Int() int64 { return int64(id) }

// Exchange is the exchange that the handler runs for.
func (id InvocationID) Exchange() ExchangeID { return ExchangeID(id >> runBits) }
