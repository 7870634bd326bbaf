package mcp_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/mcp"
)

// The inputs and the effects are closed sets: adding one breaks whoever carries
// them out, so it happens in a major version, and here.
func TestClosedSets(t *testing.T) {
	inputs, effects := declared(t)
	require.Equal(t, []string{
		"Answered", "Crashed", "EndStreams", "ExchangeClosed", "Finished", "Logged", "Notify", "Progressed",
		"Received", "RegisterTool", "TimedOut", "UnregisterTool",
	}, inputs)
	require.Equal(t, []string{"Admitted", "Write", "Start", "Cancel", "Close", "Ask", "Resolve"}, effects)
	for i, name := range effects {
		require.Equal(t, strings.ToLower(name), mcp.EffectKind(i+1).String())
	}
	require.Equal(t, "none", mcp.EffectKind(0).String())
	require.Equal(t, "none", mcp.EffectKind(len(effects)+1).String())
}

// declared reads the package's own source: the types with the method that makes
// an Input, and the constants of EffectKind.
func declared(t *testing.T) (inputs, effects []string) {
	paths, err := filepath.Glob("*.go")
	require.NoError(t, err)
	for _, path := range paths {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		require.NoError(t, err)
		for _, decl := range file.Decls {
			switch d := decl.(type) {
			case *ast.FuncDecl:
				if d.Recv != nil && d.Name.Name == "input" {
					inputs = append(inputs, d.Recv.List[0].Type.(*ast.Ident).Name)
				}
			case *ast.GenDecl:
				if first, ok := d.Specs[0].(*ast.ValueSpec); ok && isKind(first) {
					for _, spec := range d.Specs {
						if name := spec.(*ast.ValueSpec).Names[0]; name.IsExported() {
							effects = append(effects, name.Name)
						}
					}
				}
			}
		}
	}
	slices.Sort(inputs)
	return inputs, effects
}

func isKind(s *ast.ValueSpec) bool {
	typ, ok := s.Type.(*ast.Ident)
	return ok && typ.Name == "EffectKind"
}
