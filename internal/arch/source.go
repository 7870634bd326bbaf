package arch

import (
	"errors"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Source is one Go file of a module.
type Source struct {
	// Path is where it lies, from the test's directory.
	Path string
	// Pkg is the path of its directory within the module, "." at the top.
	Pkg string
	// Text is what it holds, Imports what it imports.
	Text    string
	Imports []string
}

// IsTest reports whether it is compiled into tests only.
func (s *Source) IsTest() bool { return strings.HasSuffix(s.Path, "_test.go") }

// Nested reports whether dir holds a module of its own, which the graph of the module
// around it does not bind.
func Nested(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "go.mod"))
	return err == nil
}

// Sources lists the Go files of the module at root, without those of modules within
// it. It reads the files itself instead of asking the go command, so that a new file
// invalidates the cached result of a test.
func Sources(root string) ([]Source, error) {
	var out []Source
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			name := d.Name()
			if path != root && (strings.HasPrefix(name, ".") || name == "testdata" || name == "node_modules" || Nested(path)) {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(path, ".go") {
			return nil
		}
		s, err := read(root, path)
		if err == nil {
			out = append(out, s)
		}
		return err
	})
	if err == nil && out == nil {
		err = errors.New("arch: no Go file in " + root)
	}
	return out, err
}

func read(root, path string) (s Source, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return s, err
	}
	file, err := parser.ParseFile(token.NewFileSet(), path, text, parser.ImportsOnly)
	if err != nil {
		return s, err
	}
	rel, err := filepath.Rel(root, filepath.Dir(path))
	if err != nil {
		return s, err
	}
	s = Source{Path: path, Pkg: filepath.ToSlash(rel), Text: string(text)}
	for _, spec := range file.Imports {
		imp, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return s, err
		}
		s.Imports = append(s.Imports, imp)
	}
	return s, nil
}
