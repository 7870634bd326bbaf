package cluster_test

import (
	"fmt"
	"net/url"
	"testing"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/stretchr/testify/require"
)

// outside starts a NATS server as others run it, which options say what is to be of.
func outside(t *testing.T, o server.Options) *server.Server {
	t.Helper()
	o.Host, o.JetStream, o.NoLog, o.NoSigs = "127.0.0.1", true, true, true
	if o.Port == 0 {
		o.Port = -1
	}
	if o.StoreDir == "" {
		o.StoreDir = t.TempDir()
	}
	s, err := server.NewServer(&o)
	require.NoError(t, err)
	s.Start()
	t.Cleanup(func() { stop(s) })
	require.True(t, s.ReadyForConnections(patience))
	return s
}

// stop ends a server and waits for its end.
func stop(s *server.Server) {
	s.Shutdown()
	s.WaitForShutdown()
}

// trio starts three servers that are one, and waits until they are.
func trio(t *testing.T) [3]*server.Server {
	t.Helper()
	var ports [3]int
	var routes []*url.URL
	for i := range ports {
		ports[i] = freePort(t)
		routes = append(routes, &url.URL{Scheme: "nats", Host: fmt.Sprintf("127.0.0.1:%d", ports[i])})
	}
	var all [3]*server.Server
	for i := range all {
		all[i] = outside(t, server.Options{
			ServerName: fmt.Sprint("nats-", i), Routes: routes,
			Cluster: server.ClusterOpts{Name: "trio", Host: "127.0.0.1", Port: ports[i]},
		})
	}
	require.Eventually(t, func() bool {
		leader := false
		for _, s := range all {
			if !s.JetStreamIsCurrent() || s.NumRoutes() == 0 {
				return false
			}
			leader = leader || s.JetStreamIsLeader() && len(s.JetStreamClusterPeers()) == len(all)
		}
		return leader
	}, patience, tick)
	return all
}
