package rival_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/bench/rival"
)

// table is what all rivals can do.
type table struct {
	begin   func(timeout time.Duration) any
	resolve func(call any, value []byte) bool
	wait    func(call any) ([]byte, error)
}

func tables(t *testing.T) map[string]table {
	ctx := context.Background()
	naive, sdk := rival.NewNaive(), rival.NewGoSDK()
	out := map[string]table{
		"naive": {
			func(d time.Duration) any { return naive.Begin("m", d) },
			func(c any, v []byte) bool { return naive.Resolve(c.(*rival.NaiveCall).ID, v) },
			func(c any) ([]byte, error) { return c.(*rival.NaiveCall).Wait(ctx) },
		},
		"gosdk": {
			func(d time.Duration) any { return sdk.Begin(ctx, "m", d) },
			func(c any, v []byte) bool { return sdk.Resolve(c.(*rival.SDKCall).ID, v) },
			func(c any) ([]byte, error) { return sdk.Wait(c.(*rival.SDKCall)) },
		},
	}
	for name, pooled := range map[string]bool{"card": false, "card pooled": true} {
		card := rival.NewCard(pooled, 0)
		t.Cleanup(card.Close)
		out[name] = table{
			func(d time.Duration) any { return card.Begin("m", d) },
			func(c any, v []byte) bool { return card.Resolve(c.(*rival.CardCall).ID, v) },
			func(c any) ([]byte, error) { return card.Wait(ctx, c.(*rival.CardCall)) },
		}
	}
	return out
}

func TestRivalsAnswerAndExpire(t *testing.T) {
	for name, r := range tables(t) {
		t.Run(name, func(t *testing.T) {
			c := r.begin(time.Minute)
			require.True(t, r.resolve(c, []byte("x")))
			v, err := r.wait(c)
			require.NoError(t, err)
			require.Equal(t, "x", string(v))

			_, err = r.wait(r.begin(5 * time.Millisecond))
			require.Error(t, err)

			c = r.begin(time.Minute)
			go r.resolve(c, []byte("y"))
			v, err = r.wait(c)
			require.NoError(t, err)
			require.Equal(t, "y", string(v))
		})
	}
}

func TestRivalsSettleOnceUnderRaces(t *testing.T) {
	for name, r := range tables(t) {
		t.Run(name, func(t *testing.T) {
			var wg sync.WaitGroup
			for range 4 {
				wg.Go(func() {
					for range 300 {
						c := r.begin(time.Millisecond)
						answered := make(chan bool)
						go func() { answered <- r.resolve(c, []byte("x")) }()
						won := <-answered
						_, err := r.wait(c)
						if won {
							require.True(t, err == nil || name == "gosdk")
						} else {
							require.Error(t, err)
						}
					}
				})
			}
			wg.Wait()
		})
	}
}

func TestMutexMap(t *testing.T) {
	m := rival.NewMutexMap()
	c := new(rival.NaiveCall)
	m.Put(1, c)
	require.Same(t, c, m.Take(1))
	require.Nil(t, m.Take(1))
}
