// Package report is what a load test leaves behind: a [Document] that holds
// everything and is written as JSON (docs/loadgen-schema.json in this repository
// describes it), the same as text for a person, and percentile files and
// interval logs for HdrHistogram's own tools. It measures nothing.
package report
