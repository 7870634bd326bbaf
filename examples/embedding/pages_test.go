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

// pages are those whose code is held to tests.
func pages(t *testing.T) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(root, "docs/coming-from/*.md"))
	require.NoError(t, err)
	require.NotEmpty(t, found)
	return append(found, filepath.Join(root, "docs/embedding.md"))
}

// What these pages point to is there, and the index names each of the others.
func TestPagesPointToWhatIsThere(t *testing.T) {
	code := regexp.MustCompile("(?s)```.*?```|`[^`\n]*\\]\\([^`\n]*`")
	links := regexp.MustCompile(`\]\(([^)#:]+)(#[^)]*)?\)`)
	index, err := os.ReadFile(filepath.Join(root, "docs/coming-from/README.md"))
	require.NoError(t, err)
	for _, page := range pages(t) {
		text, err := os.ReadFile(page)
		require.NoError(t, err)
		for _, link := range links.FindAllSubmatch(code.ReplaceAll(text, nil), -1) {
			_, err := os.Stat(filepath.Join(filepath.Dir(page), string(link[1])))
			require.NoError(t, err, page)
		}
		if name := filepath.Base(page); strings.Contains(page, "coming-from") && name != "README.md" {
			require.Contains(t, string(index), "("+name+")")
		}
	}
}

// Every block of Go on these pages is code that is compiled and run as a test.
func TestPagesQuoteTests(t *testing.T) {
	blocks := regexp.MustCompile("(?s)```go\n(.*?)```")
	tests := sources(t)
	for _, page := range pages(t) {
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
