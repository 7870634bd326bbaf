package drive

import (
	"time"

	"github.com/correlator-go/correlator/internal/load/tally"
)

// sampler ends intervals and reads the meters while a run goes on. It is one
// goroutine; after stop its fields belong to whoever stopped it.
type sampler struct {
	*state
	rows       []tally.Row
	warm       bool // the interval began in the warm-up
	quit, done chan struct{}
}

func startSampler(s *state) *sampler {
	m := &sampler{state: s, quit: make(chan struct{}), done: make(chan struct{})}
	m.warm = !s.measuring(0)
	go m.loop()
	return m
}

// loop rotates at the end of the warm-up and every Interval after it, and every
// Interval before it too.
func (m *sampler) loop() {
	defer close(m.done)
	timer := time.NewTimer(m.untilWarm(m.Interval))
	defer timer.Stop()
	next := m.Interval
	for {
		select {
		case <-m.quit:
			return
		case <-timer.C:
		}
		m.rotate(m.warm)
		if m.warm && m.measuring(m.own()) {
			m.warm = false
			began := m.began.Load()
			next = began.at - (began.own - m.Warmup)
		}
		now := m.now()
		for next <= now {
			next += m.Interval
		}
		timer.Reset(m.untilWarm(next - now))
	}
}

// untilWarm is d, or less if the warm-up ends before. A pause moves that end; then
// there is a shorter row for it.
func (m *sampler) untilWarm(d time.Duration) time.Duration {
	if left := m.Warmup - m.own(); m.warm && left > 0 {
		return min(d, left)
	}
	return d
}

func (m *sampler) rotate(warm bool) {
	row := m.tally.Rotate(m.now(), m.gauges(), warm)
	m.rows = append(m.rows, row)
	if m.OnRow != nil {
		m.OnRow(row)
	}
}

// stop ends the goroutine and the last interval. That holds measured calls although
// it began in the warm-up where the goroutine was not run in between.
func (m *sampler) stop() {
	close(m.quit)
	<-m.done
	m.rotate(m.warm && m.began.Load() == nil)
}
