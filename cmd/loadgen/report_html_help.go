package main

const helpReport = `loadgen report shows a saved run (run -o) as text, or as an HTML page; two runs
as a page laying one over the other. A page is one file that needs no network:
docs/loadgen-report.md says how to read it.

  -html FILE       the page; - is standard output

examples
  loadgen report run.json
  loadgen report run.json -html run.html
  loadgen report before.json after.json -html both.html
`
