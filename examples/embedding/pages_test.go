package embedding_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const root = "../.."

var spaces = regexp.MustCompile(`\s+`)

// flat is Go code without its layout.
func flat(text []byte) string { return strings.TrimSpace(spaces.ReplaceAllString(string(text), " ")) }

// sources are the tests that pages may quote, those of the adapters included.
func sources(t *testing.T) (all []string) {
	t.Helper()
	for _, dir := range []string{"examples/embedding", "adapters"} {
		require.NoError(t, filepath.WalkDir(filepath.Join(root, dir), func(path string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, "_test.go") {
				return err
			}
			text, err := os.ReadFile(path)
			all = append(all, flat(text))
			return err
		}))
	}
	return all
}

// Every block of Go on these pages is code that is compiled and run as a test.
func TestPagesQuoteTests(t *testing.T) {
	pages, err := filepath.Glob(filepath.Join(root, "docs/coming-from/*.md"))
	require.NoError(t, err)
	blocks := regexp.MustCompile("(?s)```go\n(.*?)```")
	tests := sources(t)
	for _, page := range append(pages, filepath.Join(root, "docs/embedding.md")) {
		t.Run(filepath.Base(page), func(t *testing.T) {
			text, err := os.ReadFile(page)
			require.NoError(t, err)
			found := blocks.FindAllSubmatch(text, -1)
			if filepath.Base(page) != "README.md" {
				require.NotEmpty(t, found)
			}
			for _, block := range found {
				quoted := false
				for _, source := range tests {
					quoted = quoted || strings.Contains(source, flat(block[1]))
				}
				require.Truef(t, quoted, "in no test:\n%s", block[1])
			}
		})
	}
}
