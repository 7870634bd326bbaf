package conn_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/conn"
)

// A slow Progress misses nothing that ProgressBuffer holds; beyond that, in
// number or in bytes, the last one that waits is replaced.
func TestProgressBuffer(t *testing.T) {
	for name, test := range map[string]struct {
		o    conn.CallOptions
		want []float64
	}{
		"none, the last alone": {conn.CallOptions{}, []float64{1, 6}},
		"negative":             {conn.CallOptions{ProgressBuffer: -1}, []float64{1, 6}},
		"three":                {conn.CallOptions{ProgressBuffer: 3}, []float64{1, 2, 3, 6}},
		"enough":               {conn.CallOptions{ProgressBuffer: 5}, []float64{1, 2, 3, 4, 5, 6}},
		"bytes for one":        {conn.CallOptions{ProgressBuffer: 5, SubscriptionBytes: 1}, []float64{1, 6}},
	} {
		t.Run(name, func(t *testing.T) {
			c, p := connect(t, conn.Options{})
			var got []float64
			begun, goOn := make(chan struct{}), make(chan struct{})
			test.o.Progress = func(x conn.Progress) {
				r, err := x.Report()
				require.NoError(t, err)
				if got = append(got, r.Progress); len(got) == 1 {
					close(begun)
					<-goOn
				}
			}
			done := call(background, c, "m", "", test.o)
			m := p.read()
			p.send(progressFor(m.ID, 1))
			<-begun
			for i := 2; i <= 6; i++ {
				p.send(progressFor(m.ID, i))
			}
			requireWorks(t, c, p) // the reader has seen them all
			close(goOn)
			p.send(resultFor(m.ID, `"r"`))
			require.Equal(t, `"r"`, (<-done).result)
			require.Equal(t, test.want, got, fmt.Sprint(test.o))
			require.EqualValues(t, 6-len(got), c.Stats().ProgressCoalesced)
		})
	}
}

// A full subscription drops its oldest notification and leaves the progress
// before and behind it alone.
func TestOldestNoteIsDroppedFromBetweenProgress(t *testing.T) {
	c, p := connect(t, conn.Options{})
	var order []string
	begun, goOn := make(chan struct{}), make(chan struct{})
	o := conn.CallOptions{
		ProgressBuffer: 3, SubscriptionBuffer: 1,
		Subscription: func(n conn.Notification) { order = append(order, n.Method) },
	}
	o.Progress = func(x conn.Progress) {
		r, err := x.Report()
		require.NoError(t, err)
		if order = append(order, fmt.Sprint(r.Progress)); len(order) == 1 {
			close(begun)
			<-goOn
		}
	}
	done := call(background, c, "m", "", o)
	m := p.read()
	p.send(progressFor(m.ID, 1))
	<-begun
	p.send(progressFor(m.ID, 2), progressFor(m.ID, 3), noteFor(m.ID, "a"), progressFor(m.ID, 4), noteFor(m.ID, "b"))
	requireWorks(t, c, p)
	close(goOn)
	p.send(resultFor(m.ID, `"r"`))
	require.Equal(t, `"r"`, (<-done).result)
	require.Equal(t, []string{"1", "2", "3", "4", "b"}, order)
	require.EqualValues(t, 1, c.Stats().NotesDropped)
}
