package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/gateway/config"
)

// Every piece of a file that the recipes show is right, once it has an upstream.
func TestRecipes(t *testing.T) {
	pages, err := filepath.Glob("../../docs/gateway*.md")
	require.NoError(t, err)
	require.NotEmpty(t, pages)
	seen := 0
	for _, page := range pages {
		text, err := os.ReadFile(page)
		require.NoError(t, err)
		for _, block := range strings.Split(string(text), "```yaml\n")[1:] {
			block, _, found := strings.Cut(block, "\n```")
			require.True(t, found, page)
			if !strings.Contains(block, "\nupstreams:") && !strings.HasPrefix(block, "upstreams:") {
				block += "\nupstreams: {one: {command: [server]}}\n"
			}
			block = strings.ReplaceAll(block, "sha256:…", "sha256:"+strings.Repeat("0", 64))
			_, err := config.Parse(page, []byte(block), func(string) (string, bool) { return "x", true })
			require.NoError(t, err, block)
			seen++
		}
	}
	require.Greater(t, seen, 5)
}
