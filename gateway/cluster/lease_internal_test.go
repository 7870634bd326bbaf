package cluster

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/gateway/internal/fake"
	"github.com/correlator-go/correlator/gateway/link"
)

// A process that was frozen between taking a lease and starting the child does not start
// it: another node may have one by then.
func TestLateOwnerStartsNothing(t *testing.T) {
	for name, c := range map[string]struct {
		ago     time.Duration
		opens   int
		over    bool
		problem error
	}{
		"in time":                  {0, 1, false, nil},
		"after the fence":          {31 * time.Minute, 0, false, ErrLeaseLost},
		"when children are killed": {43 * time.Minute, 0, true, ErrLeaseLost},
		"after the lease":          {2 * time.Hour, 0, true, ErrLeaseLost},
	} {
		t.Run(name, func(t *testing.T) {
			server := &fake.Server{}
			l := &lease{n: &Node{o: Options{Lease: time.Hour}}}
			l.confirmed(time.Now().Add(-c.ago))
			h := &host{lease: l, opener: server, guests: map[guest]struct{}{}, stopping: make(chan struct{})}
			up, err := (*source)(h).Open(t.Context(), nil, link.Key{})
			require.ErrorIs(t, err, c.problem)
			require.Equal(t, c.opens, server.Opened())
			require.Equal(t, c.over, l.child.Over())
			require.Equal(t, c.problem == nil, up != nil)
			if c.problem != nil {
				<-h.stopping
				require.ErrorIs(t, h.reason(), ErrLeaseLost)
			}
		})
	}
}
