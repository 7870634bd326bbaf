package claim

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

const oldPage = `# Report
<!-- machine -->
Machine: none.
<!-- end -->
<!-- short -->
<!-- end -->
## Speed
people's words
<!-- claims: ^a: (fast|slow|lost) -->
| old |
<!-- end -->
## Size
<!-- claims: ^b:  -->
| old too | ≤ 1 x | 2 x | **short** |
<!-- end -->
`

var (
	two     = 2.0
	names   = []string{"a: fast", "a: slow", "a: lost", "b: large", "b: small"}
	thatRun = run{commit: "abc1234", date: "2026-01-02", machine: "1 CPU", rounds: 5}
	three   = []report{
		{Area: "a", Name: "fast", Bound: AtMost.String(), Demand: &two, Measured: &two, Unit: "x", Verdict: OK},
		{Area: "a", Name: "slow", Bound: AtLeast.String(), Demand: &two, Measured: new(1.5), Unit: "x", Verdict: Short},
		{Area: "a", Name: "lost", Bound: AtMost.String(), Demand: &two, Unit: "x", Verdict: Failed, Error: "no luck"},
	}
)

func TestUpdateFillsWhatWasMeasured(t *testing.T) {
	text, err := updated(oldPage, names, three, thatRun)
	require.NoError(t, err)
	want := `# Report
<!-- machine -->
Machine of the last update: 1 CPU. Commit ` + "`abc1234`" + `, 2026-01-02.
<!-- end -->
<!-- short -->
- Speed: slow: ≥ 2 x demanded, 1.5 x measured
- Speed: lost: could not be measured
- Size: old too: ≤ 1 x demanded, 2 x measured
<!-- end -->
## Speed
people's words
<!-- claims: ^a: (fast|slow|lost) -->
Commit ` + "`abc1234`" + `, 2026-01-02, at most 5 rounds: 1 ok, 1 short, 1 not measured.

| claim | demanded | measured | |
|---|---:|---:|---|
| fast | ≤ 2 x | 2 x | ok |
| slow | ≥ 2 x | 1.5 x | **short** |
| lost | ≤ 2 x |  | **failed** |
<!-- end -->
## Size
<!-- claims: ^b:  -->
| old too | ≤ 1 x | 2 x | **short** |
<!-- end -->
`
	require.Equal(t, want, text)
	again, err := updated(text, names, three, thatRun)
	require.NoError(t, err)
	require.Equal(t, text, again)
}

func TestUpdateLeavesHalvesAlone(t *testing.T) {
	text, err := updated(oldPage, names, three[:2], thatRun)
	require.NoError(t, err)
	require.Contains(t, text, "| old |\n", "a table is of one run")
	require.Contains(t, text, "Machine: none.\n", "and so is what is said of the machine")
	require.Contains(t, text, "- Size: old too: ≤ 1 x demanded, 2 x measured\n<!-- end -->\n## Speed")
}

func TestUpdateSaysThatNothingIsShort(t *testing.T) {
	text, err := updated("<!-- short -->\n<!-- end -->\n", names, nil, thatRun)
	require.NoError(t, err)
	require.Equal(t, "<!-- short -->\nNo row is short.\n<!-- end -->\n", text)
}

func TestUpdateRefuses(t *testing.T) {
	for block, problem := range map[string]string{
		"<!-- claims: ( -->\n<!-- end -->\n":        "missing closing",
		"<!-- claims: ^nobody: -->\n<!-- end -->\n": "no claim matches",
		"<!-- claims: ^a: -->\n":                    "lacks its",
	} {
		_, err := updated(block, names, three, thatRun)
		require.ErrorContains(t, err, problem)
	}
}

// The whole way, from the flag to the file. What is only listed changes nothing.
func TestMainUpdates(t *testing.T) {
	path := filepath.Join(t.TempDir(), "page.md")
	require.NoError(t, os.WriteFile(path, []byte("<!-- claims: . -->\n<!-- end -->\n"), 0o644))
	claims := []Claim{{Area: "a", Name: "one", Unit: "x", Measure: func(*Session) (float64, error) { return 1, nil }}}
	check := func(code int, args ...string) string {
		t.Helper()
		require.Equal(t, code, Main(args, t.Output(), t.Output(), claims, nil))
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		return string(text)
	}
	require.NotContains(t, check(0, "-update", path, "-list"), "one")
	require.Contains(t, check(0, "-update", path, "-quick"), "at most 1 rounds: 0 ok, 0 short.\n\n| claim | demanded | measured | |\n|---|---:|---:|---|\n| one |  | 1 x | shown |\n")
	check(1, "-update", filepath.Join(t.TempDir(), "none.md"))
	entries, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	require.Len(t, entries, 1, "nothing else is left there")
}

func TestProfiledRole(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "profiles")
	roles := map[string]Role{"work": func(args []string) (Values, error) { return Values{"args": float64(len(args))}, nil }}
	require.Zero(t, Main([]string{roleFlag, profiledRole, dir, "work", "a b", "/some/socket", "7"}, t.Output(), t.Output(), nil, roles))
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, entries, 2)
	require.Regexp(t, `^work-a_b-7\.\d+\.allocs$`, entries[0].Name())
	require.Regexp(t, `^work-a_b-7\.\d+\.cpu$`, entries[1].Name())
	require.Equal(t, 1, Main([]string{roleFlag, profiledRole, dir}, t.Output(), t.Output(), nil, roles))
	require.Equal(t, 1, Main([]string{roleFlag, profiledRole, dir, "nobody"}, t.Output(), t.Output(), nil, roles))
}
