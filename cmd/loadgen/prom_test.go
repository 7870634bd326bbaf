package main

import (
	"io"
	"net/http"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestProm(t *testing.T) {
	address, wait := begun(t, `http://127\.0\.0\.1:\d+/metrics`, "-rate", "2k", "-n", "4000", "-delay", "const:20ms", "-prom", "127.0.0.1:0")
	count := regexp.MustCompile(`(?m)^mcp_client_operation_duration_seconds_count\{mcp_method_name="echo",network_transport="pipe"\} (\d+)$`)
	bucket := regexp.MustCompile(`(?m)^mcp_client_operation_duration_seconds_bucket\{mcp_method_name="echo",network_transport="pipe",le="0\.01"\} (\d+)$`)
	for deadline := time.Now().Add(time.Minute); ; {
		require.True(t, time.Now().Before(deadline), "no interval ended")
		answer, err := http.Get(address)
		require.NoError(t, err)
		body, err := io.ReadAll(answer.Body)
		require.NoError(t, err)
		require.NoError(t, answer.Body.Close())
		require.Equal(t, "text/plain; version=0.0.4; charset=utf-8", answer.Header.Get("Content-Type"))
		m := count.FindSubmatch(body)
		require.NotNil(t, m, string(body))
		if n, err := strconv.Atoi(string(m[1])); err != nil || n == 0 {
			require.NoError(t, err)
			continue
		}
		require.Equal(t, "0", string(bucket.FindSubmatch(body)[1]), "each took 20 ms")
		require.Regexp(t, `(?m)^loadgen_in_flight\{mcp_method_name="echo",network_transport="pipe"\} \d+$`, string(body))
		break
	}
	code, _ := wait()
	require.Equal(t, exitOK, code)
	_, err := http.Get(address)
	require.Error(t, err, "it is served no more")
}
