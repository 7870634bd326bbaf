// Package report is what a load test leaves behind: a [Document] that holds
// everything and is written as JSON (docs/loadgen-schema.json in this repository
// describes it), the same as text for a person, and percentile files and
// interval logs for HdrHistogram's own tools. It measures nothing.
//
// # For those who show a run
//
// [Build] makes the Document of a finished run, [Read] takes one back from a file,
// and a [Live] is a Document that grows while the run goes on:
//
//	live := report.NewLive(config, began)
//	config.OnRow, config.OnEvent = live.Row, live.Event
//	... changed := live.Changed(); d := live.Document(); <-changed ...
//	live.End(document)
//
// All three give the same type, so one piece of code draws them. What it finds:
//
//	Config, Tool, Began            what was asked for, what measured and when
//	Intervals                      the series: one per second, with counts, gauges and both latencies
//	Latency                        both latencies of the whole run, with their histograms
//	Counts, Rates, Cost            the accounting, rates, costs a call
//	Connections, Fairness, Mix     parts of the load
//	SLO                            goals with their verdicts, at the end
//	Events, Steering, Running      what was done to it while it went on
//	Notes, Problems, Error, Exit   what to say beside it, at the end
//
// A histogram in a Document is text ("" while it is running, and in intervals
// that did not keep theirs): [Distribution.Decode] gives it back as
// HdrHistogram's. While a run goes on, [Live.Rows] has the histograms of its
// intervals as they are, if [drive.Config.Histograms] asks for them.
package report
