package bench

import (
	"os"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/bench/page"
)

// The performance report has each claim in one table.
func TestReportHasEachClaimOnce(t *testing.T) {
	text, err := os.ReadFile("../docs/perf.md")
	require.NoError(t, err)
	var sections []*regexp.Regexp
	_, err = page.Replace(string(text), "claims", func(arg string) (string, bool, error) {
		pattern, err := regexp.Compile(arg)
		sections = append(sections, pattern)
		return "", false, err
	})
	require.NoError(t, err)
	for _, c := range Claims() {
		name, places := c.Area+": "+c.Name, 0
		for _, s := range sections {
			if s.MatchString(name) {
				places++
			}
		}
		require.Equal(t, 1, places, name)
	}
}
