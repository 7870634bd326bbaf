package arch_test

import (
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Every module below the root is entered by the targets of the Makefile, is on the
// map, and stands in the changelog if it is there to be imported.
func TestModulesAreEntered(t *testing.T) {
	var modules []string
	require.NoError(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && path != root && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || d.Name() == "node_modules") {
			return filepath.SkipDir
		}
		if d.Name() == "go.mod" {
			dir, err := filepath.Rel(root, filepath.Dir(path))
			modules = append(modules, filepath.ToSlash(dir))
			return err
		}
		return nil
	}))
	require.Contains(t, modules, "adapters/otel")

	text := func(name string) string {
		s, err := readFile(filepath.Join(root, name))
		require.NoError(t, err)
		return s
	}
	makefile, architecture, changelog, readme := text("Makefile"), text("docs/architecture.md"), text("CHANGELOG.md"), text("README.md")
	var entered []string
	for line := range strings.Lines(makefile) {
		if list, ok := strings.CutPrefix(line, "MODULES"); ok {
			entered = strings.Fields(strings.TrimLeft(list, " :="))
		}
	}
	slices.Sort(entered)
	slices.Sort(modules)
	require.Equal(t, modules, entered, "MODULES of the Makefile")
	for _, target := range []string{"lint", "test", "cross", "fuzz", "bench-once"} {
		_, recipe, ok := strings.Cut(makefile, "\n"+target+": ")
		require.True(t, ok, target)
		recipe, _, _ = strings.Cut(recipe, "\n\n")
		require.Contains(t, recipe, "in $(MODULES)", "make %s leaves modules out", target)
	}
	for _, m := range modules {
		if m == "." {
			continue
		}
		require.Contains(t, architecture, "`"+m+"`", "docs/architecture.md does not name the module %s", m)
		if strings.HasPrefix(m, "adapters/") {
			require.Contains(t, changelog, "`"+m+"`", "CHANGELOG.md does not name %s", m)
			require.Contains(t, readme, "("+m+")", "README.md does not link to %s", m)
		}
	}
}
