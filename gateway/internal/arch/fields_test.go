package arch_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Every exported name that users see has a comment, fields and methods of interfaces too:
// one of its own, or one within its type that names it.
func TestNamesAreDocumented(t *testing.T) {
	for _, f := range sources(t) {
		if strings.HasSuffix(f.Path, "_test.go") || strings.HasPrefix(f.Pkg, "internal/") || strings.HasPrefix(f.Pkg, "cmd/") {
			continue
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, f.Path, nil, parser.ParseComments)
		require.NoError(t, err)
		missing := func(n ast.Node, what string) { t.Errorf("%v: %s has no comment", set.Position(n.Pos()), what) }
		for _, d := range file.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Name.IsExported() && d.Doc == nil && (d.Recv == nil || exportedReceiver(d)) {
					missing(d, d.Name.Name)
				}
			case *ast.GenDecl:
				for _, s := range d.Specs {
					switch s := s.(type) {
					case *ast.TypeSpec:
						if s.Name.IsExported() {
							if d.Doc == nil && s.Doc == nil {
								missing(s, s.Name.Name)
							}
							members(s, d.Doc.Text(), missing)
						}
					case *ast.ValueSpec:
						for _, name := range s.Names {
							if name.IsExported() && d.Doc == nil && s.Doc == nil && s.Comment == nil {
								missing(s, name.Name)
							}
						}
					}
				}
			}
		}
	}
}

func exportedReceiver(d *ast.FuncDecl) bool {
	e := d.Recv.List[0].Type
	if p, ok := e.(*ast.StarExpr); ok {
		e = p.X
	}
	name, ok := e.(*ast.Ident)
	return ok && name.IsExported()
}

// members reports the exported fields or methods of a type that nothing is said of.
func members(s *ast.TypeSpec, doc string, missing func(ast.Node, string)) {
	var list *ast.FieldList
	switch kind := s.Type.(type) {
	case *ast.StructType:
		list = kind.Fields
	case *ast.InterfaceType:
		list = kind.Methods
	default:
		return
	}
	said := doc + s.Doc.Text()
	for _, f := range list.List {
		said += " " + f.Doc.Text() + " " + f.Comment.Text()
	}
	for _, f := range list.List {
		for _, name := range f.Names {
			if !name.IsExported() || f.Doc != nil && len(f.Names) == 1 || f.Comment != nil || f.Tag != nil && strings.Contains(f.Tag.Value, "doc:") {
				continue
			}
			if !regexp.MustCompile(`\b` + name.Name + `\b`).MatchString(said) {
				missing(f, s.Name.Name+"."+name.Name)
			}
		}
	}
}
