package downstream_test

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/conn"
	"github.com/correlator-go/correlator/gateway"
	"github.com/correlator-go/correlator/gateway/downstream"
	"github.com/correlator-go/correlator/gateway/internal/fake"
)

// A slow call, a ping and the cancel of the slow one, written together on one stream: the
// ping is answered and the cancel acts while the call goes on.
func TestB06SerialStream(t *testing.T) {
	server := &fake.Server{}
	g, err := gateway.New(gateway.Options{Upstreams: []gateway.Upstream{{Name: "fake", Opener: server, Isolation: gateway.Shared}}})
	require.NoError(t, err)
	ours, theirs := net.Pipe()
	served := make(chan error, 1)
	go func() {
		served <- downstream.Serve(context.Background(), g, theirs, "unix", downstream.Options{Conn: conn.Options{}})
	}()
	_, err = io.WriteString(ours, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"slow"}}
{"jsonrpc":"2.0","id":2,"method":"ping"}
{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}
{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"next"}}
`)
	require.NoError(t, err)
	answers := json.NewDecoder(ours)
	var pong struct {
		ID int `json:"id"`
	}
	require.NoError(t, answers.Decode(&pong))
	require.Equal(t, 2, pong.ID)
	// The way may not have been open when the cancel came: then nobody was asked.
	way := server.Way(0)
	var next string
	slow := ""
	for next == "" {
		number, frame := way.NextRequest()
		if strings.Contains(frame, `"next"`) {
			next = number
		} else {
			slow = number
		}
	}
	if slow != "" {
		require.Eventually(t, func() bool { return len(way.Cancels()) == 1 }, waitFor, tick)
		require.Equal(t, slow, itoa(way.Cancels()[0].Call))
	}
	way.Say(`{"jsonrpc":"2.0","id":` + next + `,"result":{}}`)
	require.NoError(t, answers.Decode(&pong))
	require.Equal(t, 3, pong.ID, "nothing is said of a call that was cancelled")
	require.NoError(t, ours.Close())
	<-served
	require.NoError(t, g.Close())
	require.EqualValues(t, 1, g.Stats().Cancelled)
}
