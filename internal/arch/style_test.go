package arch_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const maxLines = 500

// A file that outgrows this holds more than one idea.
func TestFileSize(t *testing.T) {
	require.NoError(t, filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name := d.Name(); path != root && (strings.HasPrefix(name, ".") || name == "node_modules") {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(path, ".go") {
			return nil
		}
		text, err := readFile(path)
		if err != nil {
			return err
		}
		if n := strings.Count(text, "\n"); n > maxLines {
			t.Errorf("%s has %d lines; split it by idea (limit %d)", path, n, maxLines)
		}
		return nil
	}))
}

// Every package says what it is for in a doc.go.
func TestPackageDoc(t *testing.T) {
	for _, line := range allowed {
		path := filepath.Join(root, line.pkg, "doc.go")
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
		if os.IsNotExist(err) {
			t.Errorf("%s has no doc.go", line.pkg)
			continue
		}
		require.NoError(t, err)
		if file.Doc == nil {
			t.Errorf("%s says nothing about its package", path)
		}
	}
}

// Every exported name says what it does; in what embedders import, every field
// does too.
func TestExportedNamesAreDocumented(t *testing.T) {
	for _, f := range sources(t) {
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, f.Path, f.Text, parser.ParseComments)
		require.NoError(t, err)
		if file.Name.Name == "main" {
			continue
		}
		for _, decl := range file.Decls {
			checkDecl(t, fset, decl, slices.Contains(library, f.Pkg))
		}
	}
}

func checkDecl(t *testing.T, fset *token.FileSet, decl ast.Decl, fields bool) {
	t.Helper()
	switch d := decl.(type) {
	case *ast.FuncDecl:
		if d.Name.IsExported() && d.Doc == nil && exportedReceiver(d) {
			t.Errorf("%s: %s has no comment", fset.Position(d.Pos()), d.Name.Name)
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch s := spec.(type) {
			case *ast.TypeSpec:
				if s.Name.IsExported() && d.Doc == nil && s.Doc == nil {
					t.Errorf("%s: type %s has no comment", fset.Position(s.Pos()), s.Name.Name)
				}
				if st, ok := s.Type.(*ast.StructType); ok && fields && s.Name.IsExported() {
					checkFields(t, fset, s.Name.Name, st)
				}
			case *ast.ValueSpec:
				for _, name := range s.Names {
					if name.IsExported() && d.Doc == nil && s.Doc == nil && s.Comment == nil {
						t.Errorf("%s: %s has no comment", fset.Position(s.Pos()), name.Name)
					}
				}
			}
		}
	}
}

// A field may share the comment of the group that it stands in: only the first
// field after a blank line or another comment needs its own.
func checkFields(t *testing.T, fset *token.FileSet, typ string, st *ast.StructType) {
	t.Helper()
	documented, last := false, 0
	for _, field := range st.Fields.List {
		line := fset.Position(field.Pos()).Line
		if field.Doc != nil || field.Comment != nil {
			documented = true
		} else if line != last+1 {
			documented = false
		}
		for _, name := range field.Names {
			if name.IsExported() && !documented {
				t.Errorf("%s: field %s.%s has no comment", fset.Position(field.Pos()), typ, name.Name)
			}
		}
		last = fset.Position(field.End()).Line
	}
}

func exportedReceiver(d *ast.FuncDecl) bool {
	if d.Recv == nil || len(d.Recv.List) == 0 {
		return true
	}
	typ := d.Recv.List[0].Type
	for {
		switch x := typ.(type) {
		case *ast.StarExpr:
			typ = x.X
		case *ast.IndexExpr:
			typ = x.X
		case *ast.IndexListExpr:
			typ = x.X
		case *ast.Ident:
			return x.IsExported()
		default:
			return true
		}
	}
}

// Every package that is imported for its API shows itself at work in examples
// that run. Programs and packages of tests (cmd, bench, fuzz, internal/arch) have
// no API to show; their help and their doc.go do it.
func TestLibraryHasExamples(t *testing.T) {
	for _, pkg := range append([]string{"."}, library...) {
		tests, err := filepath.Glob(filepath.Join(root, pkg, "*_test.go"))
		require.NoError(t, err)
		shown := 0
		for _, path := range tests {
			text, err := readFile(path)
			require.NoError(t, err)
			examples := strings.Count(text, "\nfunc Example")
			require.Equalf(t, examples, strings.Count(text, "// Output:"), "%s: every example says what it prints", path)
			shown += examples
		}
		require.NotZerof(t, shown, "%s has no example", pkg)
	}
}
