// Package prom gives out the figures of a load test that is going on in the text
// format of Prometheus.
//
// The latency has the name that the semantic conventions for MCP give it,
// mcp.client.operation.duration, in Prometheus's form and with the conventions'
// buckets and attributes
// (https://github.com/open-telemetry/semantic-conventions-genai, docs/gen-ai/mcp.md).
// It is the service time: from when a request was sent. What the conventions do not
// have begins with loadgen_: the response time, which runs from when a request was
// due, in finer buckets, calls by outcome, calls in flight, calls sent behind their
// time.
//
// Nothing is counted while nobody scrapes: a scrape takes in the intervals that
// ended since the last one.
package prom
