// Package engine is the table of pending requests.
package engine

import (
	"context"
	"time"

	"github.com/correlator-go/correlator/codec"
)

type Engine[T any] struct{}
type Call[T any] struct{ e *Engine[T] }
type Stats struct {
	Registered, Resolved, Rejected, Cancelled, Expired, Failed uint64
	Late, Duplicate, Unknown, Reclaimed, Refused               uint64
	Pending, Slots                                             int
	WheelRuns, WheelVisits, Staged                             uint64
	Panics                                                     uint64
}

func New[T any](o Options[T]) (*Engine[T], error)                                 { panic("") }
func (e *Engine[T]) Begin(ctx context.Context, o CallOptions[T]) (Call[T], error) { panic("") }
func (e *Engine[T]) NextID() codec.ID                                             { panic("") }
func (e *Engine[T]) Register(ctx context.Context, id codec.ID, o CallOptions[T]) (Call[T], error) {
	panic("")
}
func (e *Engine[T]) Resolve(id codec.ID, v T) bool         { panic("") }
func (e *Engine[T]) Reject(id codec.ID, err error) bool    { panic("") }
func (e *Engine[T]) Cancel(id codec.ID, err error) bool    { panic("") }
func (e *Engine[T]) Touch(id codec.ID) bool                { panic("") }
func (e *Engine[T]) Dispatch(id codec.ID) bool             { panic("") }
func (e *Engine[T]) FailAll(err error, close bool) int     { panic("") }
func (e *Engine[T]) Close() error                          { panic("") }
func (e *Engine[T]) Closed() bool                          { panic("") }
func (e *Engine[T]) Failure() error                        { panic("") }
func (e *Engine[T]) Len() int                              { panic("") }
func (e *Engine[T]) Pending() []codec.ID                   { panic("") }
func (e *Engine[T]) Method(id codec.ID) (string, bool)     { panic("") }
func (e *Engine[T]) Age(id codec.ID) (time.Duration, bool) { panic("") }
func (e *Engine[T]) Stats() Stats                          { panic("") }
func (c Call[T]) ID() codec.ID                             { panic("") }
func (c Call[T]) Wait(ctx context.Context) (T, error)      { panic("") }
func (c Call[T]) Done() <-chan struct{}                    { panic("") }
func (c Call[T]) Outcome() (Outcome[T], bool)              { panic("") }
func (c Call[T]) Cancel(err error) bool                    { panic("") }
func (c Call[T]) Discard()                                 { panic("") }
