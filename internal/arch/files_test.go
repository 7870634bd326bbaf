package arch_test

import (
	"os"
	"path/filepath"
)

// nested reports whether dir holds a module of its own, which this graph does
// not bind.
func nested(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "go.mod"))
	return err == nil
}

func readFile(path string) (string, error) {
	b, err := os.ReadFile(path)
	return string(b), err
}
