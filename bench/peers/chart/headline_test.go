package chart_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/bench/peers/chart"
	"github.com/correlator-go/correlator/bench/peers/load"
	"github.com/correlator-go/correlator/bench/peers/peer"
	"github.com/correlator-go/correlator/bench/peers/report"
)

func TestHeadline(t *testing.T) {
	r := report.New(time.Unix(0, 0), "")
	r.Machine.CPU = "A & B <1>"
	_, err := chart.Headline(r)
	require.ErrorIs(t, err, chart.ErrNoRow)

	entry := func(name string, class peer.Class, rate float64) *report.Entry {
		return &report.Entry{Peer: name, Class: class, Rounds: []load.Figures{{load.Rate: rate, load.CPU: 1e9 / rate}}}
	}
	r.Rows = []*report.Row{{Scenario: report.Closed, Transport: "unix", Callers: 1024, Bytes: 100, Entries: []*report.Entry{
		entry(peer.GoSDK, peer.JSON, 10_000), entry(peer.Blocking, peer.Ours, 600_000), entry(peer.InOrder, peer.Floor, 1_200_000),
		entry("somebody <new>", peer.Other, 50_000), {Peer: "broken", Class: peer.JSON, Failed: "deadlock"},
	}}}
	svg, err := chart.Headline(r)
	require.NoError(t, err)
	require.Contains(t, string(svg), "prefers-color-scheme: dark")
	require.Contains(t, string(svg), "somebody &lt;new&gt;")
	require.NotContains(t, string(svg), "broken")
	// The fastest fills the width, the others their share of it.
	require.Contains(t, string(svg), `<rect class="floor" x="225" y="72" width="415.0"`)
	require.Contains(t, string(svg), `<rect class="ours" x="225" y="98" width="207.5"`)

	d := xml.NewDecoder(bytes.NewReader(svg))
	for err = nil; err == nil; {
		_, err = d.Token()
	}
	require.True(t, errors.Is(err, io.EOF), "not well-formed: %v", err)
}
