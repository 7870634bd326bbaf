package prom

import (
	"bytes"
	"strings"
)

// helpText says what each family is. The library writes the line and leaves it empty.
var helpText = map[string]string{
	"mcp_client_operation_duration_seconds": "Service time of calls that were answered or timed out: from when a call was sent.",
	"loadgen_response_duration_seconds":     "Response time of the same calls: from when a call was due.",
	"loadgen_calls_total":                   "Calls that ended, by how.",
	"loadgen_sent_total":                    "Calls sent.",
	"loadgen_behind_total":                  "Calls sent more than a millisecond after they were due.",
	"loadgen_dropped_total":                 "Calls that were due and not sent.",
	"loadgen_late_answers_total":            "Answers to calls that had ended.",
	"loadgen_in_flight":                     "Calls sent and not yet ended.",
	"loadgen_rate_factor":                   "By how much the planned rate is multiplied, by hand.",
	"loadgen_paused":                        "1 while the sending is paused by hand.",
	"loadgen_running":                       "1 until the run is over.",
	"loadgen_info":                          "Always 1; what runs is in the labels.",
}

// explained is text with the words of helpText in its lines of help.
func explained(text []byte) []byte {
	out := make([]byte, 0, len(text)+2048)
	for line := range bytes.Lines(text) {
		out = append(out, line...)
		name, ok := strings.CutPrefix(string(line), "# HELP ")
		if help := helpText[strings.TrimSpace(name)]; ok && help != "" {
			out = append(append(append(out[:len(out)-1], ' '), help...), '\n')
		}
	}
	return out
}
