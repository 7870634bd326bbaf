package wheel_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/wheel"
)

// appointment is one resident of the model, in 64-bit ticks that never wrap.
type appointment struct {
	at      int64
	entry   uint32
	overdue bool // already past when scheduled: exempt from the order
}

// model is the dumb twin of a wheel: a list sorted by deadline.
type model struct {
	now  int64
	list []appointment
}

func (m *model) schedule(i uint32, at int64) {
	a := appointment{at: at, entry: i, overdue: at < m.now}
	pos, _ := slices.BinarySearchFunc(m.list, a, func(x, y appointment) int {
		return int(min(max(x.at-y.at, -1), 1))
	})
	m.list = slices.Insert(m.list, pos, a)
}

func (m *model) find(i uint32) int {
	return slices.IndexFunc(m.list, func(a appointment) bool { return a.entry == i })
}

// history plays the operations that data spells on a wheel and on the model.
type history struct {
	t     testing.TB
	wheel *wheel.Wheel
	model model
	data  []byte
}

const historyEntries = 300 // more than one chunk

func play(t testing.TB, start int64, data []byte) {
	h := &history{t: t, wheel: wheel.New(wheel.Tick(start)), model: model{now: start}, data: data}
	h.wheel.Grow(historyEntries)
	for len(h.data) > 0 {
		switch h.byte() % 8 {
		case 0, 1, 2:
			h.schedule()
		case 3:
			h.cancel()
		case 4:
			h.advance(h.model.now+int64(h.distance()), 1+int(h.byte())%8, h.byte()%4 == 0)
		case 5: // what a driver does
			if next, ok := h.wheel.Next(); ok {
				h.advance(h.model.now+int64(next.Sub(h.wheel.Now())), 64, false)
			}
		case 6: // a clock that steps back
			if h.wheel.Len() > 0 {
				due, more := h.wheel.Advance(wheel.Tick(h.model.now-1-int64(h.distance())>>1), make([]uint32, 0, 4))
				require.Empty(t, due)
				require.False(t, more)
			}
		case 7:
			h.advance(h.model.now, 3, false)
		}
		h.compare()
	}
	for h.wheel.Len() > 0 { // everything comes out in the end
		h.advance(h.model.now+1<<30, 64, false)
		h.compare()
	}
}

func (h *history) byte() byte {
	if len(h.data) == 0 {
		return 0
	}
	b := h.data[0]
	h.data = h.data[1:]
	return b
}

// distance returns 0 to 2^31-1 ticks, near the edges of the levels as often as
// between them.
func (h *history) distance() uint32 {
	shape, low := h.byte(), uint32(h.byte())
	bits := uint32(shape % 32)
	switch shape >> 5 {
	case 0, 1:
		return low % 80
	case 2, 3, 4: // around a power of two
		return (1<<bits - 4 + low%8) &^ (1 << 31)
	default:
		return (low<<24 | uint32(h.byte())<<16 | uint32(h.byte())<<8 | uint32(h.byte())) >> (1 + bits%31)
	}
}

func (h *history) schedule() {
	i := (uint32(h.byte())<<8 | uint32(h.byte())) % historyEntries
	if h.model.find(i) >= 0 {
		return
	}
	at := h.model.now
	if back := h.byte(); back < 24 {
		at -= int64(h.distance()) // past by up to 2^31-1
	} else {
		at += int64(h.distance())
	}
	h.wheel.Schedule(i, wheel.Tick(at))
	h.model.schedule(i, at)
}

func (h *history) cancel() {
	i := (uint32(h.byte())<<8 | uint32(h.byte())) % (historyEntries + 4)
	pos := h.model.find(i)
	require.Equal(h.t, pos >= 0, h.wheel.Cancel(i), "cancel %d", i)
	if pos >= 0 {
		h.model.list = slices.Delete(h.model.list, pos, pos+1)
	}
}

// advance takes room entries at a time; impatient leaves after the first call.
func (h *history) advance(now int64, room int, impatient bool) {
	buf := make([]uint32, 0, room)
	last := int64(-1 << 62)
	for calls := 0; ; calls++ {
		require.Less(h.t, calls, 10_000, "no progress")
		before, was := h.model.now, h.wheel.Now()
		due, more := h.wheel.Advance(wheel.Tick(now), buf)
		require.LessOrEqual(h.t, len(due), room)
		h.model.now = before + int64(h.wheel.Now().Sub(was))
		for _, i := range due {
			pos := h.model.find(i)
			require.GreaterOrEqual(h.t, pos, 0, "entry %d is not resident", i)
			a := h.model.list[pos]
			require.LessOrEqual(h.t, a.at, h.model.now, "entry %d is early", i)
			if !a.overdue {
				require.GreaterOrEqual(h.t, a.at, last, "entry %d is out of order", i)
				last = a.at
			}
			h.model.list = slices.Delete(h.model.list, pos, pos+1)
		}
		if !more {
			require.Equal(h.t, now, h.model.now)
			require.True(h.t, len(h.model.list) == 0 || h.model.list[0].at > now, "a due entry stayed")
			return
		}
		if impatient {
			return
		}
	}
}

func (h *history) compare() {
	require.Equal(h.t, len(h.model.list), h.wheel.Len())
	require.Equal(h.t, wheel.Tick(h.model.now), h.wheel.Now())
	next, ok := h.wheel.Next()
	require.Equal(h.t, len(h.model.list) > 0, ok)
	if ok {
		earliest := max(h.model.list[0].at, h.model.now)
		ahead := int64(next.Sub(h.wheel.Now()))
		require.GreaterOrEqual(h.t, ahead, int64(0))
		require.LessOrEqual(h.t, h.model.now+ahead, earliest, "Next is later than the earliest deadline")
	}
	for _, a := range h.model.list {
		at, resident := h.wheel.At(a.entry)
		require.True(h.t, resident)
		require.Equal(h.t, wheel.Tick(a.at), at)
	}
}

// starts are the moments at which histories begin: zero, the wrap, and the edges
// of every level.
var starts = []int64{
	0, 1<<32 - 5, 1<<32 - 64, 1<<31 - 3, 1<<30 - 5, 1<<24 - 1, 1<<18 - 1, 1<<12 - 1, 63, 1<<36 - 5, 1<<42 - 1,
}

func TestModel(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	for round := range 200 {
		data := make([]byte, 1500)
		for i := range data {
			data[i] = byte(rng.Uint32())
		}
		play(t, starts[round%len(starts)]+int64(rng.IntN(3)), data)
	}
}

func FuzzWheel(f *testing.F) {
	for _, start := range starts {
		f.Add(start, []byte{0, 0, 1, 99, 0, 30, 0, 0, 2, 99, 255, 9, 9, 9, 9, 5, 4, 0, 30, 7, 0, 3, 0, 2, 6, 0, 1})
	}
	f.Fuzz(func(t *testing.T, start int64, data []byte) {
		play(t, start&(1<<50-1), data[:min(len(data), 4096)])
	})
}

func ExampleWheel() {
	w := wheel.New(1000)
	w.Grow(3)
	w.Schedule(0, 1030)
	w.Schedule(1, 1030)
	w.Schedule(2, 999) // already past
	w.Cancel(1)

	buf := make([]uint32, 0, 16)
	due, _ := w.Advance(1000, buf)
	fmt.Println(due)

	next, _ := w.Next()
	due, more := w.Advance(next, buf)
	fmt.Println(next, due, more, w.Len())
	// Output:
	// [2]
	// 1030 [0] false 0
}
