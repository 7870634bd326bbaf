package main

// The help texts. Each fits 80 columns; the first one fits a screen.

const helpAll = `loadgen sends JSON-RPC or MCP requests to a peer. It reports rates, latencies,
costs and an accounting that must add up.

  loadgen [run] [flags]     load a target; without flags: pipe:echo for 5 s
  loadgen serve [flags]     be an echo server that misbehaves on request
  loadgen compare A B       tell what changed between runs, and what is noise
  loadgen report A [B]      show saved runs as text, or as an HTML page (-html)
  loadgen completion SHELL  print a completion script: bash, zsh or fish
  loadgen version           what was built, with which Go
  loadgen COMMAND -h        every flag of a command, with examples

the flags of run that matter most
  -target T      pipe:echo, unix:/path, tcp:host:port, ws://host, http://host,
                 'exec:command'
  -mcp           greet as an MCP client and call -tool with -args
  -rate 5k/s     open loop: latency counts from the planned time of a request;
                 without it a closed loop asks again when it was answered
  -search GOALS  find the highest rate at which goals hold
  -c N           most calls in flight     -d 30s    how long
  -slo GOALS     p99<5ms,error<0.1%: exit 3 if one is missed
  -o run.json    everything, for compare, report and your own tools
  -html run.html the report as one HTML page     -ui 127.0.0.1:0   the same live

examples
  loadgen -rate 20k/s -d 10s -slo 'p99<5ms,error<0.1%'
  loadgen -target tcp:127.0.0.1:7000 -search 'p99<5ms'
  loadgen -target 'exec:npx -y @modelcontextprotocol/server-everything stdio' \
          -mcp -tool echo -args '{"message":"hi"}'

exit  0 fine, 1 the run failed, had no answer or does not add up, 2 usage,
      3 a goal was missed or something got worse
`

const helpRun = `loadgen run sends requests to a target. "run" may be left out.

target
  -target T        pipe:echo (in this process; the default), unix:/path,
                   tcp:host:port, ws://host:port/path, wss://…,
                   'exec:command args' (a child over stdio), or with -mcp
                   http://host:port/path, https://… (Streamable HTTP)
  -conns N         connections (1); exec starts a child for each
  -framing F       line (default), headers (as LSP has them), length
  -profile P       mcp (default), jsonrpc, lsp

load
  -rate R          open loop of 5000/s, 5k or 300/m: response times count from
                   the planned time; without it the loop is closed
  -stages S        open loop in stages: 10s:1000,30s:1000..8000,10s:0
  -search GOALS    find the highest rate at which goals hold: doubled until it
                   fails, then bisected. -rate is the first, -d that of a probe
  -c N             callers of a closed loop, most in flight of an open one; 1024
  -drop            drop what is due while -c are in flight; else it waits and is
                   sent behind its time
  -mode M          batch: callbacks, many calls in one submission (default);
                   callback; blocking: a goroutine a caller
  -d D  -n N       end after a time (5s), or a number of requests
  -warmup D        sent but not measured (500ms; with -n 0)
  -timeout D       of a call (10s); negative: none
  -end E           wait for the calls in flight at the end (default), or cut
  -repeat N        as many runs; files are numbered: run.1.json, run.2.json

request
  -method M        (echo)
  -size B          bytes of params, 100 (default) or 100..4096
  -body JSON       params, or @file with them
  -mcp             greet as an MCP client, then load tools/call
  -era E           of MCP: auto (asks the server; default), modern, older
  -tool T  -args J the tool (echo) and its arguments
  -mix FILE        several kinds of requests with weights, as JSON:
                   [{"weight":9,"method":"a","size":"100"},
                    {"weight":1,"method":"b","params":{"k":1}}]
  -prelude FILE    messages for each connection ahead of the load, as JSON:
                   [{"request":"initialize","params":{"capabilities":{}}},
                    {"notify":"initialized","params":{}}]
  -want-progress   ask for progress
  -seed N          of everything random (1): the same seed, the same requests

faults of pipe:echo (loadgen serve -h explains them)
  -delay LAW  -blackhole 1%  -late 1%  -late-by D  -dup 1%  -reorder N
  -progress D  -stall-read 1s@5s  -die-after N

output
  -slo GOALS       p99<5ms,p99.9<20ms,service.p50<1ms,error<0.1%,rate>=4900,
                   allocs<1,cpu<2us: exit 3 if one is missed
  -o FILE          everything as JSON; - is standard output
  -html FILE       the report as one page of HTML: charts, heat map, goals, …
  -ui ADDRESS      serve that page while it runs, with buttons: pause, the rate
                   and stop: 127.0.0.1:0 takes a free port and prints it
  -prom ADDRESS    metrics for Prometheus while it runs, at /metrics
  -hdr FILE        percentiles as HdrHistogram's plotter reads them
  -hlog FILE       HdrHistogram's log, a pair of histograms a second
  -peer-counters   compare with the counters of loadgen serve
  -quiet           no line while it runs

examples
  loadgen -rate 20k/s -d 10s -slo 'p99<5ms,error<0.1%'
  loadgen -target unix:echo.sock -conns 4 -stages 10s:1k,30s:1k..8k
  loadgen -target 'exec:./server --stdio' -mcp -tool search -search 'p99<50ms'

exit  0 fine, 1 the run failed, had no answer or does not add up, 2 usage,
      3 a goal was missed
`

const helpServe = `loadgen serve answers each request with its own params, and misbehaves on
request. What befalls a request depends on the seed, the connection's number and
the request's number alone. At the end it prints its counters to standard error.

  -listen L          tcp:127.0.0.1:0 (default; prints the port it got),
                     unix:/path, ws:127.0.0.1:0, or stdio
  -framing F         line, headers, length
  -profile P         mcp, jsonrpc, lsp
  -mcp               answer initialize, ping, tools/list and tools/call of echo
  -discover          and server/discover
  -seed N            (1)
  -o FILE            the counters at the end, as JSON
  -quiet             not on standard error

  -delay LAW         hold answers back: const:5ms, exp:5ms (mean),
                     lognormal:5ms,0.5 (median, sigma), pareto:1ms,1.5
                     (least, alpha)
  -blackhole 1%      never answer
  -late 1%           answer after -late-by (11s), which should lie beyond the
                     client's timeout
  -dup 1%            answer twice
  -reorder N         send answers in shuffled windows of N
  -progress D        report progress at this pace while an answer is held back
  -stall-read 1s@5s  stop reading for 1 s, 5 s after the connection began, once
  -die-after N       end the connection at the Nth request; with stdio exit 1

examples
  loadgen serve -listen unix:echo.sock
  loadgen serve -listen tcp:127.0.0.1:7000 -delay lognormal:5ms,0.5 -dup 0.1%
  loadgen -target 'exec:loadgen serve -listen stdio -die-after 1000'
`

const helpVersion = `loadgen version prints the version of the module, of Go, and the platform.

examples
  loadgen version
  loadgen version | cut -d' ' -f2
  loadgen run -o - -quiet -n 1000 | jq .tool
`

const helpCompare = `loadgen compare BEFORE AFTER tells what changed between two sides, and what is
noise. Each side is one run or several, as run -o leaves them: names and quoted
patterns, joined by commas. Five or more runs a side are wanted, taken in turn:

  for i in 1 2 3 4 5; do
    loadgen -target unix:old.sock -rate 20k -quiet -o old.$i.json
    loadgen -target unix:new.sock -rate 20k -quiet -o new.$i.json
  done

It shows the medians of the runs and the interval that holds 95 % of what chance
makes of them (bootstrap). A change whose interval holds 0 % is within noise.
With one run a side, its seconds stand for repetitions.

  -max-regress L   how much worse metrics may get: p99=5%,rate=2%,cpu=10%.
                   Exit 3 if one got worse by more, and that is not noise
  -o FILE          the comparison as JSON; - is standard output

examples
  loadgen compare 'old.*.json' 'new.*.json'
  loadgen compare old.json new.json -max-regress p99=5%
  loadgen compare a.1.json,a.2.json b.1.json,b.2.json -o - | jq .changes
`

const helpCompletion = `loadgen completion SHELL prints a completion script for bash, zsh or fish.

examples
  loadgen completion bash > /etc/bash_completion.d/loadgen
  loadgen completion zsh > "${fpath[1]}/_loadgen"
  loadgen completion fish > ~/.config/fish/completions/loadgen.fish
`

const helpReport = `loadgen report shows a saved run (run -o) as text, or as an HTML page; two runs
as a page laying one over the other. A page is one file that needs no network:
docs/loadgen-report.md says how to read it.

  -html FILE       the page; - is standard output

examples
  loadgen report run.json
  loadgen report run.json -html run.html
  loadgen report before.json after.json -html both.html
`
