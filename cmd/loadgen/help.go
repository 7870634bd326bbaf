package main

const helpLoad = `loadgen sends JSON-RPC or MCP requests to a peer; it reports rates, latencies, costs and an accounting that must add up.

  loadgen [flags]         load a target; with no flags: pipe:echo, 1,024 in flight, about 5 s
  loadgen serve [flags]   be an echo server that misbehaves on request (loadgen serve -h)
  loadgen version         what was built, with which Go

target   -target T      pipe:echo (in this process), unix:/path, tcp:host:port, 'exec:command args' (stdio child)
         -framing F     line, headers, length          -profile P   mcp, jsonrpc, lsp
load     -rate R        open loop of 5000/s, 5k, 300/m: latency from the planned time; without: closed loop
         -stages S      open loop in stages: 10s:1000,30s:1000..8000,10s:0
         -c N           callers of the closed loop, most in flight of the open one (1024); -drop drops what exceeds it
         -mode M        batch: callbacks, many calls in one submission (default); callback; blocking: a goroutine a caller
         -d D  -n N     end after a time (5s) or a number of requests      -warmup D   not measured (500ms; with -n 0)
         -timeout D     of a call (10s), negative: none                    -end E      wait for calls in flight, or cut
request  -method M      (echo)     -size 100 or 100..4096 bytes of params     -body JSON or @file
         -mcp           greet as an MCP client: server/discover, else initialize; then load tools/call
         -tool T  -args JSON       the tool and its arguments    -want-progress   ask for progress    -seed N   (1)
faults   of pipe:echo   -delay const:5ms|exp:5ms|lognormal:5ms,0.5|pareto:1ms,1.5   -blackhole 1%   -dup 1%   -late 1% -late-by D
                        -reorder N   -progress D   -stall-read 1s@5s   -die-after N
output   -slo GOALS     p99<5ms,p99.9<20ms,service.p50<1ms,error<0.1%,rate>=4900,allocs<1,cpu<2us: exit 3 if one is missed
         -o FILE        everything as JSON (- is stdout)    for HdrHistogram: -hdr FILE  percentiles   -hlog FILE  log by second
         -quiet         no line while it runs               -peer-counters   compare with those of loadgen serve

examples loadgen -rate 20k/s -d 10s -slo 'p99<5ms,error<0.1%'
         loadgen -target tcp:127.0.0.1:7000 -c 64 -mode blocking -o run.json
         loadgen -target 'exec:npx -y @modelcontextprotocol/server-everything stdio' -mcp -tool echo -args '{"message":"hi"}'

exit     0 fine, 1 the run failed or does not add up, 2 usage, 3 a goal was missed
`

const helpServe = `loadgen serve answers each request with its own params, and misbehaves on request. What befalls a request depends on the
seed, the connection's number and the request's number alone. At the end it prints its counters to standard error.

  -listen L        tcp:127.0.0.1:0 (default; prints the port it got), unix:/path, or stdio
  -framing F       line, headers, length              -profile P   mcp, jsonrpc, lsp
  -mcp             answer initialize, ping, tools/list and tools/call of the tool echo     -discover   and server/discover
  -seed N          (1)                                -quiet       no counters at the end

  -delay LAW       hold answers back: const:5ms, exp:5ms (mean), lognormal:5ms,0.5 (median, sigma), pareto:1ms,1.5 (least, alpha)
  -blackhole 1%    never answer            -dup 1%         answer twice
  -late 1%         answer after -late-by (11s), which should lie beyond the client's timeout
  -reorder N       send answers in shuffled windows of N
  -progress D      report progress at this pace while an answer is held back
  -stall-read 1s@5s   stop reading for 1 s, 5 s after the connection began, once
  -die-after N     end the connection at the Nth request; with stdio exit 1

examples loadgen serve -listen unix:/tmp/echo.sock
         loadgen serve -listen tcp:127.0.0.1:7000 -delay lognormal:5ms,0.5 -blackhole 0.1%
         loadgen -target 'exec:loadgen serve -listen stdio -die-after 1000'
`
