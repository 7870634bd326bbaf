package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

const report = `{"schema":1,"began":"2026-01-02T03:04:05Z","machine":{"cpu":"Fast","cpus":2,"go":"go1.26"},"rows":[
{"scenario":"closed","transport":"unix","callers":1024,"bytes":100,"entries":[
 {"peer":"slow","class":"json-rpc","rounds":[{"calls/s":1000,"cpu":9000},{"calls/s":3000,"cpu":7000}]},
 {"peer":"absent","class":"other","rounds":[{"calls/s":1000,"cpu":1000}]},
 {"peer":"fast","class":"ours","rounds":[{"calls/s":500000,"cpu":1000},{"calls/s":300000,"cpu":3000},{"calls/s":400000,"cpu":1234}]}]},
{"scenario":"closed","transport":"unix","callers":1,"bytes":100,"entries":[
 {"peer":"slow","class":"json-rpc","rounds":[],"failed":"deadlock"},
 {"peer":"fast","class":"ours","rounds":[{"calls/s":40000,"cpu":20000}]}]},
{"scenario":"open","transport":"unix","callers":64,"bytes":100,"entries":[]}]}`

func TestFillPeers(t *testing.T) {
	dir := t.TempDir()
	document, from := filepath.Join(dir, "page.md"), filepath.Join(dir, "peers.json")
	write := func(path, text string) { require.NoError(t, os.WriteFile(path, []byte(text), 0o644)) }
	write(from, report)
	write(document, "a\n<!-- peers: unix 100 -->\n<!-- end -->\n")
	require.Zero(t, peers([]string{document, from}))
	text, err := os.ReadFile(document)
	require.NoError(t, err)
	require.Equal(t, `a
<!-- peers: unix 100 -->
2026-01-02T03:04:05Z, 2 CPUs, Fast, go1.26. Thousands of calls a second, and the client's CPU a call in µs.

| | | 1 | CPU | 1024 | CPU |
|---|---|---:|---:|---:|---:|
| **fast** | ours | 40 | 20 | 400 | 1.23 |
| slow | json-rpc | – | – | 2 | 8 |
| absent | other | – | – | 1 | 1 |

–: slow with 1 callers: deadlock; who is not among a row's contenders, see bench/peers.
<!-- end -->
`, string(text))

	require.Equal(t, 2, peers(nil))
	require.Equal(t, 1, peers([]string{document, filepath.Join(dir, "none.json")}))
	require.Equal(t, 1, peers([]string{filepath.Join(dir, "none.md"), from}))
	for _, arg := range []string{"tcp 100", "unix many", "unix"} {
		write(document, "<!-- peers: "+arg+" -->\n<!-- end -->\n")
		require.ErrorContains(t, fillPeers(document, from), "line 1", arg)
	}
	write(from, `{"schema":2}`)
	require.ErrorContains(t, fillPeers(document, from), "schema 2")
}

func TestFillAdapters(t *testing.T) {
	dir := t.TempDir()
	document, from := filepath.Join(dir, "page.md"), filepath.Join(dir, "peers.json")
	write := func(path, text string) { require.NoError(t, os.WriteFile(path, []byte(text), 0o644)) }
	write(from, `{"schema":1,"began":"2026-01-02T03:04:05Z","machine":{"cpu":"Fast","cpus":2,"go":"go1.26"},"rows":[
{"scenario":"adapters","transport":"unix","callers":64,"bytes":100,"entries":[
 {"peer":"sdk","class":"json-rpc","rounds":[{"calls/s":10000,"p50":2e6,"cpu":9000,"allocs":90,"bytes":5000}]},
 {"peer":"sdk+correlator","class":"adapted","rounds":[{"calls/s":25000,"p50":5e5,"cpu":3000,"allocs":30,"bytes":1500}]}]},
{"scenario":"adapters","transport":"unix","callers":1024,"bytes":100,"entries":[
 {"peer":"sdk","class":"json-rpc","failed":"deadlock"},
 {"peer":"sdk+correlator","class":"adapted","rounds":[{"calls/s":25000}]}]}]}`)
	write(document, "<!-- adapters: sdk -->\n<!-- end -->\n")
	require.NoError(t, fillPeers(document, from))
	text, err := os.ReadFile(document)
	require.NoError(t, err)
	require.Equal(t, `<!-- adapters: sdk -->
2026-01-02T03:04:05Z, 2 CPUs, Fast, go1.26.

| | sdk's own transport | this one | calls a second |
|---|---|---|---|
| 64 callers, 100 bytes | 10 thousand/s, p50 2 ms, 9 µs of CPU, 90 allocations, 5 KB | 25 thousand/s, p50 0.5 ms, 3 µs of CPU, 30 allocations, 1.5 KB | 2.5 × |
<!-- end -->
`, string(text))
	write(document, "<!-- adapters: nobody -->\n<!-- end -->\n")
	require.ErrorContains(t, fillPeers(document, from), "nobody")
}

func TestVerdicts(t *testing.T) {
	require.Equal(t, `| claim | demanded | measured | |
|---|---|---|---|
| unix, 64 callers | calls/s ≥ 2× the next, x | 3× (ours) | ok |
| expiry | CPU ≤ 1/3 | 0.8× | **short** |
| expiry | CPU | 0.8× | shown |`, verdicts(`
ok      unix, 64 callers     calls/s ≥ 2× the next, x      3× (ours)
SHORT   expiry               CPU ≤ 1/3  0.8×
shown   expiry               CPU  0.8×
2 demands, 1 not met
`))
}
