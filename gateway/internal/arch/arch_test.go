package arch_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
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
	{"auth", nil, []string{"codec", "serve"}},
	{"duplex", []string{"link"}, []string{"codec", "conn"}},
	{"upstream", []string{"duplex", "link"}, []string{"client", "codec", "conn", "conn/websocket", "mcp"}},
	{"downstream", []string{".", "auth", "duplex", "limit", "link"}, []string{"codec", "conn", "conn/websocket", "internal/accept", "mcp", "serve"}},
	{"guard", nil, nil},
	{"cluster/embedded", nil, nil},
	{"cluster", []string{".", "guard", "limit", "link"}, []string{"codec", "mcp"}},
	{"status", []string{".", "auth", "guard", "link"}, []string{"codec"}},
	{"config", nil, nil},
	{"node", []string{".", "auth", "cluster", "cluster/embedded", "config", "downstream", "guard", "limit", "link", "merge", "status", "upstream"}, []string{"client", "codec", "conn", "conn/websocket", "mcp"}},
	{"internal/fault", nil, nil},
	{"internal/check", []string{".", "downstream", "limit", "upstream"}, []string{"bench/claim", "bench/rival", "codec", "conn", "internal/cputime", "internal/echo"}},
	{"cmd/gateway", []string{".", "auth", "cluster", "cluster/embedded", "config", "downstream", "guard", "link", "node", "status", "upstream"}, []string{"conn"}},
}

// pure packages take time, randomness and I/O as arguments. route may lock its table.
var pure = map[string][]string{
	"route": {"context", "io", "log", "log/slog", "math/rand", "math/rand/v2", "net", "net/http", "os", "time", "unsafe"},
	"limit": {"context", "io", "log", "log/slog", "math/rand", "math/rand/v2", "net", "net/http", "os", "unsafe"},
	"merge": {"context", "io", "log", "log/slog", "math/rand", "math/rand/v2", "net", "net/http", "os", "time", "unsafe"},
}

type source struct {
	path, pkg string
	lines     int
	imports   []string
}

func sources(t *testing.T) []source {
	t.Helper()
	var out []source
	require.NoError(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, text, parser.ImportsOnly)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, filepath.Dir(path))
		if err != nil {
			return err
		}
		s := source{path: path, pkg: filepath.ToSlash(rel), lines: strings.Count(string(text), "\n")}
		for _, spec := range file.Imports {
			imp, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			s.imports = append(s.imports, imp)
		}
		out = append(out, s)
		return nil
	}))
	require.NotEmpty(t, out)
	return out
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
		if strings.HasSuffix(f.path, "_test.go") {
			continue
		}
		if _, ok := own[f.pkg]; !ok {
			t.Errorf("%s: package %s is not in the import graph", f.path, f.pkg)
			continue
		}
		for _, imp := range f.imports {
			switch local, ours := strings.CutPrefix(imp, module); {
			case ours:
				if local = strings.TrimPrefix(local, "/"); local == "" {
					local = "."
				}
				if !slices.Contains(own[f.pkg], local) {
					t.Errorf("%s: %s must not import %s", f.path, f.pkg, imp)
				}
			case strings.HasPrefix(imp, library):
				if !slices.Contains(lib[f.pkg], strings.TrimPrefix(imp, library)) {
					t.Errorf("%s: %s must not import %s", f.path, f.pkg, imp)
				}
			case imp == "unsafe":
				t.Errorf("%s: the gateway is memory-safe Go", f.path)
			}
			if slices.Contains(pure[f.pkg], imp) {
				t.Errorf("%s: %s is pure, so it must not import %s", f.path, f.pkg, imp)
			}
		}
	}
}

func TestFilesAreShort(t *testing.T) {
	for _, f := range sources(t) {
		if f.lines > maxLines {
			t.Errorf("%s has %d lines; split it by idea", f.path, f.lines)
		}
	}
}

// Every package says what it is, in doc.go.
func TestPackagesAreDocumented(t *testing.T) {
	for _, f := range sources(t) {
		require.FileExists(t, filepath.Join(filepath.Dir(f.path), "doc.go"), f.path)
	}
}
