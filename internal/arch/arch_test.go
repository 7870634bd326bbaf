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
	module = "github.com/correlator-go/correlator"
	root   = "../.."
)

// allowed is the architecture: for each package of this module, what it may
// import from this module. A package that is missing here fails the test, so
// adding one means deciding where it stands. Arrows point one way: a line may
// only name packages whose own lines stand above it.
var allowed = []struct {
	pkg     string
	imports []string
}{
	{"internal/arch", nil},
	{"internal/invariants", nil},
	{"internal/frameset", nil},
	{"internal/chunk", []string{"internal/invariants"}},
	{"internal/vector", nil},
	{"codec", []string{"internal/chunk", "internal/invariants", "internal/vector"}},
	{"wheel", []string{"internal/invariants"}},
	{"engine", []string{"codec", "internal/invariants", "wheel"}},
	{"conn", []string{"codec", "engine", "internal/invariants"}},
	{"conn/websocket", []string{"codec", "conn"}},
	{"progress", []string{"codec"}},
	{"mcp", []string{"codec", "internal/invariants"}},
	{"internal/accept", nil},
	{"serve", []string{"codec", "conn", "engine", "internal/accept", "mcp", "progress"}},
	{"client", []string{"codec", "conn", "engine", "mcp"}},
	{"examples/embedding", nil},
	{"examples/everything", []string{"mcp", "serve"}},
	{"examples/everything/client", []string{"client", "codec", "mcp"}},
	{"examples/quickstart/client", []string{"client", "conn"}},
	{"examples/quickstart/server", []string{"mcp", "serve"}},
	{"internal/cputime", nil},
	{"internal/callers", []string{"internal/cputime"}},
	{"internal/echo", []string{"codec"}},
	{"internal/load/plan", nil},
	{"internal/load/tally", nil},
	{"internal/load/slo", nil},
	{"internal/load/search", nil},
	{"internal/load/noise", nil},
	{"internal/load/drive", []string{"codec", "conn", "engine", "internal/cputime", "internal/echo", "internal/load/plan", "internal/load/tally"}},
	{"internal/load/target", []string{"client", "codec", "conn", "conn/websocket", "engine", "internal/echo", "internal/load/drive", "mcp"}},
	{"internal/load/report", []string{"internal/echo", "internal/load/drive", "internal/load/noise", "internal/load/search", "internal/load/slo", "internal/load/tally"}},
	{"internal/load/prom", []string{"internal/load/report", "internal/load/tally"}},
	{"internal/load/page", []string{"internal/load/report", "internal/load/tally"}},
	{"internal/load/panel", []string{"internal/load/drive", "internal/load/page", "internal/load/report"}},
	{"cmd/loadgen", []string{
		"codec", "conn", "conn/websocket", "engine", "internal/accept", "internal/echo", "internal/load/drive", "internal/load/page", "internal/load/panel", "internal/load/plan", "internal/load/prom", "internal/load/report",
		"internal/load/search", "internal/load/slo", "internal/load/tally", "internal/load/target",
	}},
	{"bench/page", nil},
	{"bench/claim", []string{"bench/page"}},
	{"bench/rival", []string{"wheel"}},
	{"bench", []string{
		"bench/claim", "bench/rival", "codec", "conn", "engine", "internal/chunk", "internal/cputime", "internal/echo", "internal/frameset", "internal/load/drive", "internal/load/plan", "mcp", "progress", "serve",
	}},
	{"bench/check", []string{"bench", "bench/claim", "bench/page"}},
	{".", nil},
	{"fuzz", nil},
}

// pure packages take time, randomness and I/O as arguments, which shows in what
// they do not import. codec may hold buffer pools (sync) and read from an
// io.Reader that it is handed; wheel holds nothing at all. mcp names contexts for
// the handlers that it describes, and draws a key where a description has none
// (crypto/rand); its one counter is atomic.
var pure = map[string][]string{
	"codec":    {"context", "log", "log/slog", "math/rand", "math/rand/v2", "net", "os", "time", "unsafe"},
	"mcp":      {"io", "log", "log/slog", "math/rand", "math/rand/v2", "net", "os", "sync", "time", "unsafe"},
	"progress": {"context", "io", "log", "log/slog", "math/rand", "math/rand/v2", "net", "os", "sync", "unsafe"},
	"wheel":    {"context", "io", "log", "log/slog", "math/rand", "math/rand/v2", "net", "os", "sync", "sync/atomic", "time", "unsafe"},
}

// banned holds imports that no package of the library may have, with the reason.
var banned = map[string]string{
	"unsafe":   "the library is memory-safe Go; a speed that needs unsafe must be argued in docs/architecture.md first",
	"log":      "a library reports through errors, hooks and counters",
	"log/slog": "a library reports through errors, hooks and counters",
}

// except lists what a package may import although it is banned.
var except = map[string]string{"serve": "log/slog"}

// library is what embedders import; programs and test kits are not bound by banned.
var library = []string{"codec", "wheel", "engine", "conn", "conn/websocket", "progress", "mcp", "serve", "client"}

func TestImportGraph(t *testing.T) {
	known := map[string][]string{}
	for _, line := range allowed {
		for _, dep := range line.imports {
			_, above := known[dep]
			require.Truef(t, above, "%s imports %s, which does not stand above it", line.pkg, dep)
		}
		_, twice := known[line.pkg]
		require.Falsef(t, twice, "%s stands twice: the second line would win in silence", line.pkg)
		known[line.pkg] = line.imports
	}
	for _, f := range sources(t) {
		locals, ok := known[f.Pkg]
		if !ok {
			t.Errorf("%s: package %s is not in the import graph; add a line to internal/arch", f.Path, f.Pkg)
			continue
		}
		for _, imp := range f.Imports {
			if local, ok := strings.CutPrefix(imp, module+"/"); ok && !slices.Contains(locals, local) {
				t.Errorf("%s: %s must not import %s", f.Path, f.Pkg, local)
			}
			if slices.Contains(pure[f.Pkg], imp) {
				t.Errorf("%s: %s is pure, so it must not import %s", f.Path, f.Pkg, imp)
			}
			if why, bad := banned[imp]; bad && slices.Contains(library, f.Pkg) && except[f.Pkg] != imp {
				t.Errorf("%s: %s must not import %s: %s", f.Path, f.Pkg, imp, why)
			}
		}
	}
}

// docs/architecture.md shows the same graph, in the same words.
func TestImportGraphIsDocumented(t *testing.T) {
	text, err := readFile(filepath.Join(root, "docs/architecture.md"))
	require.NoError(t, err)
	shown := map[string]string{}
	for line := range strings.Lines(text) {
		if cells := strings.Split(line, "|"); len(cells) == 6 {
			shown[strings.Trim(cells[1], " `")] = strings.TrimSpace(cells[3])
		}
	}
	for _, line := range allowed {
		if line.pkg == "." {
			continue
		}
		want := "–"
		if len(line.imports) > 0 {
			want = "`" + strings.Join(line.imports, "`, `") + "`"
		}
		require.Equalf(t, want, shown[line.pkg], "what docs/architecture.md says of %s", line.pkg)
	}
}

// Raw functions of sync/atomic allow a plain read of the same word elsewhere;
// the typed values do not.
func TestAtomicsAreTyped(t *testing.T) {
	for _, f := range sources(t) {
		for _, name := range []string{"Load", "Store", "Add", "Swap", "CompareAndSwap"} {
			for _, kind := range []string{"Int32", "Int64", "Uint32", "Uint64", "Pointer"} {
				if strings.Contains(f.Text, "atomic."+name+kind+"(") {
					t.Errorf("%s: use a typed atomic instead of atomic.%s%s", f.Path, name, kind)
				}
			}
		}
	}
}

// sources are the module's Go files that are not tests.
func sources(t *testing.T) []arch.Source {
	t.Helper()
	all, err := arch.Sources(root)
	require.NoError(t, err)
	return slices.DeleteFunc(all, func(s arch.Source) bool { return s.IsTest() })
}
