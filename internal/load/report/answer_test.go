package report_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/internal/load/report"
	"github.com/correlator-go/correlator/internal/load/tally"
)

func TestWantAnswer(t *testing.T) {
	for _, c := range []struct {
		name string
		sent int64
		ends tally.Ends
		err  string
		want string
	}{
		{"answered", 3, tally.Ends{OK: 1, Timeout: 2}, "", ""},
		{"answered with an error", 3, tally.Ends{Error: 1, Timeout: 2}, "", ""},
		{"nothing sent", 0, tally.Ends{}, "", ""},
		{"none", 1700, tally.Ends{Timeout: 1200, Cancelled: 300, Lost: 200}, "", "no call was answered: timeout 1,200, cancelled 300, lost 200"},
		{"failed anyway", 3, tally.Ends{Lost: 3}, "the peer is gone", "the peer is gone"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := &report.Document{Counts: report.Counts{Sent: c.sent, Ends: c.ends}, Error: c.err, Exit: 3}
			d.WantAnswer()
			require.Equal(t, c.want, d.Error)
			if c.want != "" && c.err == "" {
				require.Equal(t, 1, d.Exit)
			} else {
				require.Equal(t, 3, d.Exit)
			}
		})
	}
}

func TestCounted(t *testing.T) {
	require.Equal(t, "0 calls", report.Counted(0, "call"))
	require.Equal(t, "1 call", report.Counted(1, "call"))
	require.Equal(t, "1,024 calls", report.Counted(1024, "call"))
}
