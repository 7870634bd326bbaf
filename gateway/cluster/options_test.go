package cluster_test

import (
	"errors"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/gateway"
	"github.com/correlator-go/correlator/gateway/cluster"
	"github.com/correlator-go/correlator/gateway/cluster/embedded"
)

func TestOptionsAreChecked(t *testing.T) {
	for field, o := range map[string]cluster.Options{
		"URL":         {},
		"Lease":       {URL: "x", Lease: time.Millisecond},
		"Replicas":    {URL: "x", Replicas: 9},
		"MaxPayload":  {URL: "x", MaxPayload: 10},
		"MaxFrame":    {URL: "x", MaxFrame: -1},
		"WriteBuffer": {URL: "x", WriteBuffer: -1},
		"CertFile":    {URL: "x", KeyFile: "key.pem"},
		"Prefix":      {URL: "x", Prefix: "a b"},
	} {
		_, err := cluster.Join(t.Context(), o)
		wrong, ok := errors.AsType[*cluster.OptionError](err)
		require.True(t, ok, "%s: %v", field, err)
		require.Equal(t, field, wrong.Field)
	}
}

// Nodes with another lease would not agree about who owns what.
func TestLeasesMustAgree(t *testing.T) {
	s := natsServer(t, embedded.Options{})
	join(t, "a", cluster.Options{Server: s}, gateway.Upstream{})
	_, err := cluster.Join(t.Context(), cluster.Options{Server: s, Lease: 2 * lease})
	wrong, ok := errors.AsType[*cluster.OptionError](err)
	require.True(t, ok, "%v", err)
	require.Equal(t, "Lease", wrong.Field)
	require.Contains(t, wrong.Problem, "all nodes must have the same")
}

// Credentials are shown; without them NATS lets no node in.
func TestCredentials(t *testing.T) {
	s := natsServer(t, embedded.Options{Port: -1, Token: "secret"})
	_, err := cluster.Join(t.Context(), cluster.Options{URL: s.URL()})
	require.ErrorIs(t, err, nats.ErrAuthorization)
	n, err := cluster.Join(t.Context(), cluster.Options{URL: s.URL(), Token: "secret"})
	require.NoError(t, err)
	require.True(t, n.Connected())
	require.NoError(t, n.Close())
}

// A child has ended when its lease could.
func TestChildGraceFitsTheLease(t *testing.T) {
	grace, term := cluster.Options{Lease: 10 * time.Second}.ChildGrace()
	require.Less(t, grace+term, 5*time.Second)
	grace, term = cluster.Options{}.ChildGrace()
	require.Less(t, grace+term, cluster.DefaultLease/2)
}
