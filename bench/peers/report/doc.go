// Package report is the document that a comparison leaves behind, the statistics
// read off it, and its tables for people.
//
// A [Report] has a [Row] for each thing that was measured (so many callers, so
// many bytes, over this transport), a row an [Entry] for each contender, an entry
// the [load.Figures] of every round. Nothing is averaged in it: medians and
// intervals are computed by whoever reads it. README.md of the module describes
// its JSON field by field.
package report
