package serve

import "time"

// due keeps the deadlines of one connection's handlers. All of them get the same
// time, so the order in which they come is that in which they expire: a list and
// one timer do, and neither starting nor ending a handler touches the timer. It
// may go off for one that is over; then it looks at who is first now.
//
// D1: while the list is not empty the timer is set, for the first or for one that
// was before it.
type due struct {
	timer *time.Timer // nil until the first
	set   bool
	first *run
	last  *run
}

// add takes r, whose deadline is the latest. fire is called by the timer.
func (d *due) add(r *run, now time.Time, fire func()) {
	r.prev = d.last
	if d.last == nil {
		d.first = r
	} else {
		d.last.after = r
	}
	d.last = r
	if !d.set {
		d.set = true
		d.arm(r.until.Sub(now), fire)
	}
}

func (d *due) arm(in time.Duration, fire func()) {
	if d.timer == nil {
		d.timer = time.AfterFunc(in, fire)
		return
	}
	d.timer.Reset(in)
}

// remove takes r out, if it is in.
func (d *due) remove(r *run) {
	if r.prev == nil && r.after == nil && d.first != r {
		return
	}
	if r.prev == nil {
		d.first = r.after
	} else {
		r.prev.after = r.after
	}
	if r.after == nil {
		d.last = r.prev
	} else {
		r.after.prev = r.prev
	}
	r.prev, r.after = nil, nil
}

// next gives the first if its time has come; else it sees to it that the timer
// goes off when it does.
func (d *due) next(now time.Time, fire func()) *run {
	r := d.first
	switch {
	case r == nil:
		d.set = false
	case r.until.After(now):
		d.arm(r.until.Sub(now), fire)
	default:
		d.remove(r)
		return r
	}
	return nil
}

// stop ends the timer.
func (d *due) stop() {
	if d.timer != nil {
		d.timer.Stop()
	}
}
