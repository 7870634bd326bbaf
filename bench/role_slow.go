package bench

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/correlator-go/correlator/bench/claim"
	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/conn"
)

const (
	slowCalls = 10_000
	slowNote  = `{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":`
)

// slowClaims are about one subscriber who never comes back from its first
// notification: calls and another subscriber of the same connection do not feel it.
func slowClaims() []claim.Claim {
	against := func(metric string) func(*claim.Session) (float64, error) {
		return func(s *claim.Session) (float64, error) {
			series, err := s.Series("slow subscriber", role(s, "idle", "slow", "idle"), role(s, "flooded", "slow", "flooded"))
			return series.Ratio(metric, "flooded", "idle"), err
		}
	}
	return []claim.Claim{
		{Area: connArea, Name: "10,000 notifications, a deaf subscriber: p99 of calls", Bound: claim.AtMost, Demand: 2,
			Unit: "of without", Measure: against("calls p99")},
		{Area: connArea, Name: "10,000 notifications, a deaf subscriber: p99 of another subscriber", Bound: claim.AtMost, Demand: 2,
			Unit: "of without", Measure: against("notes p99")},
	}
}

// slowRole measures, one after the other, calls over a connection with two
// subscribers. Before each answer the peer notifies the second, and if it is told to
// flood also the first, who never comes back from its first notification. The values
// are of the calls, and of the second subscriber's notifications from their writing.
func slowRole(args []string) (claim.Values, error) {
	if len(args) != 1 || args[0] != "idle" && args[0] != "flooded" {
		return nil, fmt.Errorf("bad arguments: %q", args)
	}
	n := max(100, int(slowCalls*pace))
	ours, theirs, err := socketPair()
	if err != nil {
		return nil, err
	}
	defer theirs.Close()
	began := time.Now()
	go notifyAndAnswer(theirs, began, args[0] == "flooded")
	c, err := conn.New(ours, conn.Options{CloseTimeout: -1})
	if err != nil {
		return nil, err
	}
	defer c.Close()
	release := make(chan struct{})
	defer close(release)
	notes, all := make([]float64, 0, n), make(chan struct{})
	subscribe := func(buffer int, f func(conn.Notification)) error {
		_, err := c.Start(background, "subscriptions/listen", []byte(`{}`), conn.CallOptions{
			Timeout: conn.NoTimeout, Subscription: f, SubscriptionBuffer: buffer,
		}, func(conn.Outcome) {})
		return err
	}
	if err := subscribe(256, func(conn.Notification) { <-release }); err != nil {
		return nil, err
	}
	if err := subscribe(n, func(note conn.Notification) {
		if notes = append(notes, float64(int64(time.Since(began))-sentAt(note.Params))); len(notes) == n {
			close(all)
		}
	}); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(background, claim.ChildMax/2)
	defer cancel()
	calls := make([]float64, n)
	for i := range calls {
		asked := time.Now()
		if _, err := c.Call(ctx, echoMethod, []byte(`1`), conn.CallOptions{}); err != nil {
			return nil, err
		}
		calls[i] = float64(time.Since(asked))
	}
	select {
	case <-all:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	slices.Sort(calls)
	slices.Sort(notes)
	return claim.Values{"calls p99": calls[n-n/100], "notes p99": notes[n-n/100], "dropped": float64(c.Stats().NotesDropped)}, nil
}

// notifyAndAnswer is the peer. The first two requests are the subscriptions.
func notifyAndAnswer(theirs net.Conn, began time.Time, flood bool) {
	frames := codec.NewReader(theirs, codec.ReaderOptions{})
	var m codec.Message
	var out []byte
	var subscribers [][]byte
	for frames.ReadMessage(&m) == nil {
		switch {
		case m.Kind != codec.KindRequest:
			continue
		case len(subscribers) < 2:
			subscribers = append(subscribers, slices.Clone(m.RawID()))
			continue
		}
		out = out[:0]
		for i, id := range subscribers {
			if i == 1 || flood {
				out = append(append(out, slowNote...), id...)
				out = strconv.AppendInt(append(out, `},"at":`...), int64(time.Since(began)), 10)
				out = append(out, "}}\n"...)
			}
		}
		out = append(codec.AppendResult(out, m.RawID(), m.Params()), '\n')
		if _, err := theirs.Write(out); err != nil {
			return
		}
	}
}

// sentAt reads when a notification was written, the last of its params.
func sentAt(params []byte) int64 {
	end := len(params) - 1
	start := end
	for start > 0 && params[start-1] != ':' {
		start--
	}
	at, _ := strconv.ParseInt(string(params[start:end]), 10, 64)
	return at
}

// socketPair makes the two ends of a unix socket.
func socketPair() (ours, theirs net.Conn, err error) {
	dir, err := os.MkdirTemp("", "pair")
	if err != nil {
		return nil, nil, err
	}
	defer os.RemoveAll(dir)
	l, err := net.Listen("unix", filepath.Join(dir, "s"))
	if err != nil {
		return nil, nil, err
	}
	defer l.Close()
	if ours, err = net.Dial("unix", l.Addr().String()); err != nil {
		return nil, nil, err
	}
	theirs, err = l.Accept()
	return ours, theirs, err
}
