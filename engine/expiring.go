package engine

// expires is called before a call expires. Runs without any tell nobody.
func (d *driver[T]) expires() {
	if d.expiring || d.e.onExpiring == nil {
		return
	}
	d.expiring = true
	d.e.tellExpiring(true)
}

// expiredAll ends what expires began. It is the last that a run does before it
// gives busy back, and is done too when a callback ended the goroutine.
func (d *driver[T]) expiredAll() {
	if d.expiring {
		d.expiring = false
		d.e.tellExpiring(false)
	}
}

func (e *Engine[T]) tellExpiring(on bool) {
	defer e.survive()
	e.onExpiring(on)
}
