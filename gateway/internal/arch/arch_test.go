package arch_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/internal/arch"
)

const (
	library = "github.com/correlator-go/correlator/"
	module  = library + "gateway"
	root    = "../.."
	// maxLines is where a file holds more than one idea.
	maxLines = 500
)

// allowed is what each package of this module may import: of this module, with a
// leading dot for the core itself, and of the library. Arrows point one way: a line
// may only name packages of this module whose own lines stand above it.
var allowed = []struct {
	pkg     string
	imports []string
	library []string
}{
	{"internal/arch", nil, nil},
	{"link", nil, []string{"codec"}},
	{"internal/fake", []string{"link"}, []string{"codec"}},
	{"route", nil, []string{"codec", "mcp"}},
	{"limit", nil, nil},
	{"merge", []string{"route"}, []string{"codec", "mcp"}},
	{".", []string{"limit", "link", "merge", "route"}, []string{"codec", "engine", "mcp"}},
	{"internal/residue", []string{".", "limit"}, nil},
	{"internal/toolschema", []string{"route"}, []string{"codec", "mcp"}},
	{"auth", nil, []string{"codec", "serve"}},
	{"duplex", []string{"link"}, []string{"codec", "conn"}},
	{"upstream", []string{"duplex", "internal/toolschema", "link"}, []string{"client", "codec", "conn", "conn/websocket", "mcp"}},
	{"downstream", []string{".", "auth", "duplex", "internal/toolschema", "limit", "link"}, []string{"codec", "conn", "conn/websocket", "internal/accept", "mcp", "serve"}},
	{"guard", nil, nil},
	{"cluster/embedded", nil, nil},
	{"cluster", []string{".", "guard", "limit", "link"}, []string{"codec", "mcp"}},
	{"status", []string{".", "auth", "guard", "link"}, []string{"codec"}},
	{"config", nil, nil},
	{"node", []string{".", "auth", "cluster", "cluster/embedded", "config", "downstream", "guard", "limit", "link", "merge", "status", "upstream"}, []string{"client", "codec", "conn", "conn/websocket", "mcp"}},
	{"internal/fault", nil, nil},
	{"internal/check", []string{".", "cluster", "cluster/embedded", "downstream", "limit", "link", "upstream"}, []string{"bench/claim", "bench/rival", "codec", "conn", "internal/cputime", "internal/echo"}},
	{"cmd/gateway", []string{".", "auth", "cluster", "cluster/embedded", "config", "downstream", "guard", "link", "node", "status", "upstream"}, []string{"conn"}},
}

// pure packages take time, randomness and I/O as arguments. route may lock its table.
var pure = map[string][]string{
	"route": {"context", "io", "log", "log/slog", "math/rand", "math/rand/v2", "net", "net/http", "os", "time", "unsafe"},
	"limit": {"context", "io", "log", "log/slog", "math/rand", "math/rand/v2", "net", "net/http", "os", "unsafe"},
	"merge": {"context", "io", "log", "log/slog", "math/rand", "math/rand/v2", "net", "net/http", "os", "time", "unsafe"},
}

func sources(t *testing.T) []arch.Source {
	t.Helper()
	all, err := arch.Sources(root)
	require.NoError(t, err)
	return all
}

func TestImportGraph(t *testing.T) {
	own, lib := map[string][]string{}, map[string][]string{}
	for _, line := range allowed {
		for _, dep := range line.imports {
			require.Containsf(t, own, dep, "%s imports %s, which does not stand above it", line.pkg, dep)
		}
		require.NotContainsf(t, own, line.pkg, "%s stands twice", line.pkg)
		own[line.pkg], lib[line.pkg] = line.imports, line.library
	}
	for _, f := range sources(t) {
		if f.IsTest() {
			continue
		}
		if _, ok := own[f.Pkg]; !ok {
			t.Errorf("%s: package %s is not in the import graph", f.Path, f.Pkg)
			continue
		}
		for _, imp := range f.Imports {
			switch local, ours := strings.CutPrefix(imp, module); {
			case ours:
				if local = strings.TrimPrefix(local, "/"); local == "" {
					local = "."
				}
				if !slices.Contains(own[f.Pkg], local) {
					t.Errorf("%s: %s must not import %s", f.Path, f.Pkg, imp)
				}
			case strings.HasPrefix(imp, library):
				if !slices.Contains(lib[f.Pkg], strings.TrimPrefix(imp, library)) {
					t.Errorf("%s: %s must not import %s", f.Path, f.Pkg, imp)
				}
			case imp == "unsafe":
				t.Errorf("%s: the gateway is memory-safe Go", f.Path)
			}
			if slices.Contains(pure[f.Pkg], imp) {
				t.Errorf("%s: %s is pure, so it must not import %s", f.Path, f.Pkg, imp)
			}
		}
	}
}

func TestFilesAreShort(t *testing.T) {
	for _, f := range sources(t) {
		if lines := strings.Count(f.Text, "\n"); lines > maxLines {
			t.Errorf("%s has %d lines; split it by idea", f.Path, lines)
		}
	}
}

// Every package says what it is, in doc.go.
func TestPackagesAreDocumented(t *testing.T) {
	for _, f := range sources(t) {
		require.FileExists(t, filepath.Join(filepath.Dir(f.Path), "doc.go"), f.Path)
	}
}
