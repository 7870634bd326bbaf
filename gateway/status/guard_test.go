package status_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/gateway/guard"
	"github.com/correlator-go/correlator/gateway/status"
)

// What the guard of the children did is counted where there is one.
func TestMetricsOfTheGuard(t *testing.T) {
	s := newStage(t, status.Options{Guard: func() guard.Stats { return guard.Stats{Watched: 3, Restarts: 2, Overdue: 1} }})
	code, text := s.do("GET", "/metrics", "")
	require.Equal(t, http.StatusOK, code)
	for _, want := range []string{
		"correlator_gateway_guard_children 3\n", "correlator_gateway_guard_restarts_total 2\n", "correlator_gateway_guard_overdue_total 1\n",
	} {
		require.Contains(t, text, want)
	}
	_, text = newStage(t, status.Options{}).do("GET", "/metrics", "")
	require.NotContains(t, text, "guard")
}
