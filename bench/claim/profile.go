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
	if err := os.MkdirAll(args[0], 0o755); err != nil {
		return err
	}
	name := filepath.Join(args[0], fmt.Sprintf("%s.%d", profileName(args[1:]), os.Getpid()))
	cpu, err := os.Create(name + ".cpu")
	if err != nil {
		return err
	}
	if err := pprof.StartCPUProfile(cpu); err != nil {
		return err
	}
	defer func() {
		pprof.StopCPUProfile()
		err = errors.Join(err, cpu.Close(), writeAllocs(name+".allocs"))
	}()
	return play(args[1:], out, roles)
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
