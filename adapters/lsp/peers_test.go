package lsp_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/adapters/lsp"
	"github.com/correlator-go/correlator/conn"
)

// gopls is the program that "make peers" installed. Without it the test is skipped, or
// fails where peers are required.
func gopls(t testing.TB) string {
	t.Helper()
	name := "gopls"
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	path, err := filepath.Abs(filepath.Join("../../.peers/bin", name))
	require.NoError(t, err)
	if _, err = os.Stat(path); err != nil {
		if os.Getenv("CORRELATOR_REQUIRE_PEERS") == "1" {
			t.Fatal(err)
		}
		t.Skipf(`%v: this test needs gopls: "make peers" installs it`, err)
	}
	return path
}

// workspace is a module with a file of functions for gopls to look at.
type workspace struct {
	folder, file, text string
	env                []string
}

// functions is how many the file has: F0, F1, … one a line, from firstLine on.
const (
	functions = 200
	firstLine = 2
)

func newWorkspace(t testing.TB) workspace {
	t.Helper()
	w := workspace{folder: t.TempDir()}
	w.file = filepath.Join(w.folder, "w.go")
	var text strings.Builder
	text.WriteString("package w\n\n")
	for i := range functions {
		fmt.Fprintf(&text, "func F%d(n int) int { return n + %d }\n", i, i)
	}
	w.text = text.String()
	require.NoError(t, os.WriteFile(w.file, []byte(w.text), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(w.folder, "go.mod"), []byte("module example.com/w\n\ngo 1.26\n"), 0o600))
	// What gopls keeps from run to run stays here; what go builds stays where it is.
	cache, err := exec.Command("go", "env", "GOCACHE").Output()
	require.NoError(t, err)
	home := t.TempDir()
	w.env = append(os.Environ(), "XDG_CACHE_HOME="+home, "XDG_CONFIG_HOME="+home, "GOPLSCACHE="+filepath.Join(home, "gopls"),
		"GOCACHE="+strings.TrimSpace(string(cache)), "GOFLAGS=-mod=mod", "GOTOOLCHAIN=local", "GOPROXY=off")
	return w
}

func (w workspace) command(program string) conn.Command {
	return conn.Command{Path: program, Env: w.env, Dir: w.folder, Grace: 20 * time.Second}
}

// uri is the URI of a file.
func uri(path string) string {
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}

func (w workspace) initialize() any {
	return map[string]any{
		"rootUri":          uri(w.folder),
		"workspaceFolders": []any{map[string]string{"name": "w", "uri": uri(w.folder)}},
		"capabilities": map[string]any{
			"workspace":    map[string]any{"configuration": true, "workspaceFolders": true, "didChangeConfiguration": map[string]bool{"dynamicRegistration": true}, "didChangeWatchedFiles": map[string]bool{"dynamicRegistration": true}},
			"window":       map[string]any{"workDoneProgress": true},
			"textDocument": map[string]any{"hover": map[string]any{"contentFormat": []string{"markdown"}}},
		},
	}
}

func (w workspace) didOpen() any {
	return map[string]any{"textDocument": map[string]any{"uri": uri(w.file), "languageId": "go", "version": 1, "text": w.text}}
}

// at is a position on the name of function i.
func (w workspace) at(i int) any {
	return map[string]any{"textDocument": map[string]string{"uri": uri(w.file)}, "position": map[string]int{"line": firstLine + i, "character": 5}}
}

// hover is what gopls answers.
type hover struct {
	Contents struct {
		Value string `json:"value"`
	} `json:"contents"`
}

func opened(t testing.TB, w workspace, o lsp.Options) *lsp.Client {
	t.Helper()
	quiet(t)
	c, err := lsp.Spawn(t.Context(), w.command(gopls(t)), o)
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	var result struct {
		Capabilities struct {
			HoverProvider json.RawMessage `json:"hoverProvider"`
		} `json:"capabilities"`
		ServerInfo struct {
			Name string `json:"name"`
		} `json:"serverInfo"`
	}
	raw, err := c.Initialize(t.Context(), w.initialize(), lsp.CallOptions{})
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(raw, &result))
	require.Equal(t, "gopls", result.ServerInfo.Name)
	require.NoError(t, c.Notify(t.Context(), "textDocument/didOpen", w.didOpen()))
	return c
}
