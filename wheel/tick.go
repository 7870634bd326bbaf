package wheel

// Tick is a moment on a clock of 32 bits that wraps: 49.7 days at 1 ms a tick.
// Two ticks compare by their difference, so they must lie less than 2^31 apart;
// which of them is the larger number means nothing.
type Tick uint32

// AheadMax is how far ahead of the wheel's time a deadline may lie, in ticks.
// What is farther counts as past, because ticks are modular: an owner with
// farther deadlines schedules AheadMax instead and looks again when it is due.
const AheadMax = 1<<31 - 1

// Before reports whether t is earlier than u.
func (t Tick) Before(u Tick) bool { return int32(t-u) < 0 }

// After reports whether t is later than u.
func (t Tick) After(u Tick) bool { return int32(t-u) > 0 }

// Sub returns the ticks from u to t, negative when t is earlier.
func (t Tick) Sub(u Tick) int32 { return int32(t - u) }
