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
	begin      *meter // when the measured part began, nil before
	quit, done chan struct{}
}

func startSampler(s *state) *sampler {
	m := &sampler{state: s, quit: make(chan struct{}), done: make(chan struct{})}
	if s.Warmup <= 0 {
		m.begin = s.read()
	}
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
		m.rotate()
		if m.begin == nil && m.own() >= m.Warmup {
			m.begin = m.read()
			next = m.begin.at - (m.begin.own - m.Warmup)
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
	if left := m.Warmup - m.own(); m.begin == nil && left > 0 {
		return min(d, left)
	}
	return d
}

func (m *sampler) rotate() {
	row := m.tally.Rotate(m.now(), m.gauges(), m.begin == nil)
	m.rows = append(m.rows, row)
	if m.OnRow != nil {
		m.OnRow(row)
	}
}

// stop ends the goroutine and the last interval.
func (m *sampler) stop() {
	close(m.quit)
	<-m.done
	m.rotate()
}
