package page_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/bench/page"
)

const document = `# Title
<!-- claims: ^a: (b|c) -->
old
lines
<!-- end -->
between
<!-- other -->
kept
<!-- end -->
<!-- claims: d -->
<!-- end -->
`

func ExampleReplace() {
	text, err := page.Replace("before\n<!-- sum: 2 3 -->\n4\n<!-- end -->\nafter\n", "sum", func(arg string) (string, bool, error) {
		var a, b int
		if _, err := fmt.Sscan(arg, &a, &b); err != nil {
			return "", false, err
		}
		return fmt.Sprint(a + b), true, nil
	})
	fmt.Print(text, err)
	// Output:
	// before
	// <!-- sum: 2 3 -->
	// 5
	// <!-- end -->
	// after
	// <nil>
}

func TestReplace(t *testing.T) {
	var args []string
	text, err := page.Replace(document, "claims", func(arg string) (string, bool, error) {
		args = append(args, arg)
		return "new\nrow", true, nil
	})
	require.NoError(t, err)
	require.Equal(t, []string{"^a: (b|c)", "d"}, args)
	require.Equal(t, `# Title
<!-- claims: ^a: (b|c) -->
new
row
<!-- end -->
between
<!-- other -->
kept
<!-- end -->
<!-- claims: d -->
new
row
<!-- end -->
`, text)
	again, err := page.Replace(text, "claims", func(string) (string, bool, error) { return "new\nrow", true, nil })
	require.NoError(t, err)
	require.Equal(t, text, again, "what was written can be written again")
}

func TestReplaceLeavesWhatIsNotFilled(t *testing.T) {
	text, err := page.Replace(document, "claims", func(string) (string, bool, error) { return "", false, nil })
	require.NoError(t, err)
	require.Equal(t, document, text)
	emptied, err := page.Replace(document, "other", func(string) (string, bool, error) { return "", true, nil })
	require.NoError(t, err)
	require.Equal(t, strings.Replace(document, "kept\n", "", 1), emptied)
}

func TestReplaceRefuses(t *testing.T) {
	fill := func(string) (string, bool, error) { return "x", true, nil }
	for _, text := range []string{
		"<!-- claims: a -->\nno end\n",
		"<!-- claims: a -->\n<!-- claims: b -->\n<!-- end -->\n",
	} {
		got, err := page.Replace(text, "claims", fill)
		require.ErrorContains(t, err, "line 1")
		require.Equal(t, text, got)
	}
	problem := errors.New("no luck")
	got, err := page.Replace(document, "claims", func(string) (string, bool, error) { return "", false, problem })
	require.ErrorIs(t, err, problem)
	require.Equal(t, document, got)
}
