package main

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

func TestHelpFitsOneScreen(t *testing.T) {
	for _, args := range [][]string{{"-h"}, {"--help"}, {"help"}} {
		code, out, errs := loadgen(t, args...)
		require.Equal(t, exitOK, code, args)
		require.Empty(t, errs)
		require.Equal(t, helpAll, out)
		require.LessOrEqual(t, strings.Count(out, "\n"), 40, args)
	}
}

// Every command explains itself, in no more than 80 columns and with three examples.
func TestEachCommandHasHelp(t *testing.T) {
	texts := map[string]string{"": helpAll}
	for _, c := range commands() {
		code, out, errs := loadgen(t, c.name, "-h")
		require.Equal(t, exitOK, code, c.name)
		require.Empty(t, errs)
		require.Equal(t, c.help, out)
		_, out, _ = loadgen(t, "help", c.name)
		require.Equal(t, c.help, out)
		require.Contains(t, helpAll, "loadgen "+strings.Replace(c.name, "run", "[run]", 1)+" ")
		texts[c.name] = out
	}
	for name, text := range texts {
		for line := range strings.Lines(text) {
			require.LessOrEqual(t, utf8.RuneCountInString(strings.TrimSuffix(line, "\n")), 80, line)
		}
		_, examples, _ := strings.Cut(text, "\nexamples\n")
		examples, _, _ = strings.Cut(examples, "\n\n")
		require.Equal(t, 3, strings.Count("\n"+examples, "\n  loadgen "), name)
	}
}

// Every flag is in its command's help.
func TestHelpNamesEveryFlag(t *testing.T) {
	for _, c := range commands() {
		if c.flags == nil {
			continue
		}
		c.flags().VisitAll(func(f *flag.Flag) {
			require.Regexp(t, `(^|\s)-`+regexp.QuoteMeta(f.Name)+`[\s,]`, c.help, c.name)
			require.NotEmpty(t, f.Usage, "completion shows it")
		})
	}
}

func TestVersion(t *testing.T) {
	for _, name := range []string{"version", "-version", "--version"} {
		code, out, _ := loadgen(t, name)
		require.Equal(t, exitOK, code, name)
		require.Regexp(t, `^loadgen \S+ go1`, out, name)
	}
}

func TestUsageErrors(t *testing.T) {
	bad := filepath.Join(t.TempDir(), "bad.json")
	require.NoError(t, os.WriteFile(bad, []byte(`{"a":`), 0o600))
	for _, line := range []string{
		"attack", "help me", "-nope", "-c x", "-c 0", "-c 99999999", "stray", "-target nothing", "-target tcp:80", "-target exec:'a",
		"-framing x", "-profile x", "-mode x", "-end x", "-rate x", "-rate 0", "-rate 5/d", "-stages 5", "-rate 5 -stages 1s:5", "-drop",
		"-n -1", "-d -1s", "-d 0", "-size 5", "-size 9..8", "-size 100 -body {}", "-body nope", "-body 5", "-body @/no/such/file", "-body @" + bad,
		"-tool x", "-args {}", "-mcp -method x", "-mcp -size 100", "-mcp -args [1]", "-slo p99", "-slo p99<5", "-method=",
		"-delay x", "-blackhole x", "-blackhole 110%", "-blackhole 60% -dup 60%", "-late 1% -timeout -1s", "-die-after -1", "-stall-read x", "-stall-read 1s@x",
		"-progress x", "-target unix:/x -dup 1%", "-dup 1% -target exec:x",
		"serve -listen x", "serve -listen udp:1", "serve -framing x", "serve -profile x", "serve -delay x", "serve -dup 2", "serve x",
	} {
		code, out, errs := loadgen(t, strings.Fields(line)...)
		require.Equal(t, exitUsage, code, "%s\n%s", line, out)
		hint := "loadgen -h"
		if strings.HasPrefix(line, "serve") {
			hint = "loadgen serve -h"
		} else if strings.HasPrefix(line, "-") {
			hint = "loadgen run -h"
		}
		require.Regexp(t, `^loadgen: .+\nsee `+hint+`\n$`, errs, line)
		require.NotContains(t, errs, "parse error", line)
		require.Empty(t, out, line)
	}
}

// A value that a flag cannot take is told what is wanted.
func TestBadFlagValues(t *testing.T) {
	for line, want := range map[string]string{
		"-d 5":          `invalid value "5" for flag -d: want a duration such as 500ms or 5s`,
		"-late-by soon": `invalid value "soon" for flag -late-by: want a duration such as 500ms or 5s`,
		"-c many":       `invalid value "many" for flag -c: want a whole number`,
		"-c 0":          `-c 0: want 1 to 1048576`,
		"-seed -1":      `invalid value "-1" for flag -seed: want a whole number from 0 on`,
	} {
		code, _, errs := loadgen(t, strings.Fields(line)...)
		require.Equal(t, exitUsage, code, line)
		require.Equal(t, "loadgen: "+want+"\nsee loadgen run -h\n", errs)
	}
}

// What cannot be written is told before the run, of which nothing is left then.
func TestFilesAreTriedBeforeTheRun(t *testing.T) {
	dir := t.TempDir()
	for _, flag := range []string{"-o", "-hdr", "-hlog", "-html"} {
		for _, name := range []string{filepath.Join(dir, "none", "x"), dir} {
			code, out, errs := loadgen(t, "-d", "1h", "-quiet", flag, name)
			require.Equal(t, exitError, code, flag)
			require.Contains(t, errs, name, flag)
			require.Empty(t, out, flag)
		}
	}
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, left)
	code, _, errs := loadgen(t, "-target", "unix:"+filepath.Join(dir, "nobody"), "-quiet", "-o", filepath.Join(dir, "run.json"))
	require.Equal(t, exitError, code, errs)
	require.NoFileExists(t, filepath.Join(dir, "run.json"))
}

// The cause of a child's end is often some lines above the last one.
func TestTailOfAChildIsShown(t *testing.T) {
	var b strings.Builder
	printTail(&b, []byte("one line\n"))
	require.Empty(t, b.String())
	printTail(&b, []byte("npm error 404 Not Found\r\nnpm error\nnpm error A complete log\n"))
	require.Equal(t, "  | npm error 404 Not Found\n  | npm error\n  | npm error A complete log\n", b.String())
	b.Reset()
	printTail(&b, []byte(strings.Repeat("line\n", 100)))
	require.Equal(t, strings.Repeat("  | line\n", tailLines), b.String())
}

func TestRunErrors(t *testing.T) {
	for line, want := range map[string]string{
		"-target unix:/no/such/socket": "/no/such/socket",
		"-target tcp:127.0.0.1:1":      "refused",
		"-target exec:no-such-program": `"no-such-program"`,
		"-n 10 -o /no/such/dir/x":      "/no/such/dir/x",
		"-n 10 -hdr /no/such/dir/x":    "/no/such/dir/x",
		"-n 10 -hlog /no/such/dir/x":   "/no/such/dir/x",
		"serve -listen unix:/no/dir/x": "/no/dir/x",
		"-mcp -tool wrench -n 10":      "unknown tool: wrench",
	} {
		code, _, errs := loadgen(t, strings.Fields(line)...)
		require.Equal(t, exitError, code, line)
		require.Contains(t, errs, want, line)
		require.NotContains(t, errs, `{"connections"`, line) // no counters of a server that never was
	}
}
