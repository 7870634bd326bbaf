package claim

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime/pprof"
	"strings"
)

// profiledRole comes before the directory for profiles and the role proper.
const profiledRole = "profiled"

// playProfiled plays a role and leaves profiles of it in the directory that args
// begin with, named after the role, its arguments and the process:
// conn-blocking-1024-100.4711.cpu and .allocs.
func playProfiled(args []string, out io.Writer, roles map[string]Role) (err error) {
	if len(args) < 2 {
		return errors.New("no directory or no role named")
	}
	end, err := Profile(filepath.Join(args[0], fmt.Sprintf("%s.%d", profileName(args[1:]), os.Getpid())))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, end()) }()
	return play(args[1:], out, roles)
}

// Profile begins a CPU profile in the file path + ".cpu", and makes its directory.
// end finishes it, and writes a profile of all allocations to path + ".allocs".
func Profile(path string) (end func() error, err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, err
	}
	cpu, err := os.Create(path + ".cpu")
	if err != nil {
		return nil, err
	}
	if err := pprof.StartCPUProfile(cpu); err != nil {
		return nil, errors.Join(err, cpu.Close())
	}
	return func() error {
		pprof.StopCPUProfile()
		return errors.Join(cpu.Close(), writeAllocs(path+".allocs"))
	}, nil
}

var unsafeInName = regexp.MustCompile(`[^A-Za-z0-9.]+`)

// profileName is a file name of a role and those of its arguments that are not
// paths.
func profileName(args []string) string {
	var parts []string
	for _, a := range args {
		if !strings.ContainsRune(a, filepath.Separator) {
			parts = append(parts, unsafeInName.ReplaceAllString(a, "_"))
		}
	}
	return strings.Join(parts, "-")
}

func writeAllocs(name string) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	return errors.Join(pprof.Lookup("allocs").WriteTo(f, 0), f.Close())
}
