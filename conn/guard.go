package conn

import "runtime/debug"

// guard runs user code. A panic ends only that code: it is counted and shown.
func (c *Conn) guard(f func()) {
	defer func() {
		if v := recover(); v != nil {
			c.counts.panics.Add(1)
			if c.o.OnPanic != nil {
				c.o.OnPanic(v, debug.Stack())
			}
		}
	}()
	f()
}

// stray shows what could not be used. The hook costs nothing when it is not set.
func (c *Conn) stray(reason StrayReason, frame []byte, size int, err error) {
	if c.o.OnStray == nil {
		return
	}
	s := Stray{Reason: reason, Frame: frame[:min(len(frame), StrayBytes)], Size: size, Err: err}
	c.guard(func() { c.o.OnStray(s) })
}
