package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/correlator-go/correlator/bench/claim"
	"github.com/correlator-go/correlator/bench/page"
)

// rivals is what a report of bench/peers says that a table of the page wants. The
// format is bench/peers/README.md's.
type rivals struct {
	Schema  int    `json:"schema"`
	Began   string `json:"began"`
	Machine struct {
		CPU  string `json:"cpu"`
		CPUs int    `json:"cpus"`
		Go   string `json:"go"`
	} `json:"machine"`
	Rows []struct {
		Scenario  string `json:"scenario"`
		Transport string `json:"transport"`
		Callers   int    `json:"callers"`
		Bytes     int    `json:"bytes"`
		Entries   []struct {
			Peer   string               `json:"peer"`
			Class  string               `json:"class"`
			Rounds []map[string]float64 `json:"rounds"`
			Failed string               `json:"failed"`
		} `json:"entries"`
	} `json:"rows"`
}

// fillPeers writes the report of bench/peers at reportPath into the blocks
//
//	<!-- peers: unix 100 -->
//
// of the document: one table each of the closed loops over a transport with so many
// bytes, a column for each number of callers. Blocks of adapters are adapterTable's;
// the block
//
//	<!-- verdicts -->
//
// gets what that program's judge says of the report.
func fillPeers(document, reportPath string) error {
	text, err := os.ReadFile(reportPath)
	if err != nil {
		return err
	}
	var r rivals
	if err := json.Unmarshal(text, &r); err != nil {
		return fmt.Errorf("%s: %w", reportPath, err)
	}
	if r.Schema != 1 {
		return fmt.Errorf("%s: schema %d, want 1", reportPath, r.Schema)
	}
	old, err := os.ReadFile(document)
	if err != nil {
		return err
	}
	filled, err := page.Replace(string(old), "peers", func(arg string) (string, bool, error) {
		table, err := r.table(arg)
		return table, true, err
	})
	if err == nil {
		filled, err = page.Replace(filled, "adapters", func(rival string) (string, bool, error) {
			table, err := r.adapterTable(rival)
			return table, true, err
		})
	}
	if err == nil {
		filled, err = page.Replace(filled, "verdicts", func(string) (string, bool, error) {
			text, err := judge(reportPath)
			return verdicts(text), true, err
		})
	}
	if err == nil {
		filled, err = claim.ListShort(filled)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", document, err)
	}
	return os.WriteFile(document, []byte(filled), 0o644)
}

// judge is what bench/peers judges, run from the root of the repository.
func judge(reportPath string) (string, error) {
	path, err := filepath.Abs(reportPath)
	if err != nil {
		return "", err
	}
	cmd := exec.Command("go", "-C", "bench/peers", "run", ".", "judge", path)
	out, err := cmd.Output()
	if _, short := errors.AsType[*exec.ExitError](err); short && len(out) > 0 {
		err = nil // it fails where a demand is not met
	}
	return string(out), err
}

var gap = regexp.MustCompile(` {2,}`)

// verdicts turns lines of verdict, row, demand and figure, two spaces or more
// between them, into a table of the page.
func verdicts(text string) string {
	var b strings.Builder
	b.WriteString("| claim | demanded | measured | |\n|---|---|---|---|")
	for l := range strings.Lines(text) {
		parts := gap.Split(strings.TrimSpace(l), -1)
		if len(parts) != 4 {
			continue
		}
		verdict := strings.ToLower(parts[0])
		if verdict != string(claim.OK) && verdict != string(claim.ShownOK) {
			verdict = "**" + verdict + "**"
		}
		fmt.Fprintf(&b, "\n| %s | %s | %s | %s |", parts[1], parts[2], parts[3], verdict)
	}
	return b.String()
}

// heading says when and where the report was made.
func (r *rivals) heading() string {
	return fmt.Sprintf("%s, %d CPUs, %s, %s", r.Began, r.Machine.CPUs, r.Machine.CPU, r.Machine.Go)
}

// line is one contender of a table.
type line struct {
	peer, class string
	rate, cpu   map[int]float64 // by callers
	failed      map[int]bool
}

// table is a table in Markdown for a transport and a payload's bytes, the fastest
// with the most callers first.
func (r *rivals) table(arg string) (string, error) {
	transport, size, _ := strings.Cut(arg, " ")
	n, err := strconv.Atoi(size)
	if err != nil {
		return "", fmt.Errorf("%q is no transport and number of bytes", arg)
	}
	var callers []int
	var holes []string // why cells are empty
	lines := map[string]*line{}
	for _, row := range r.Rows {
		if row.Scenario != "closed" || row.Transport != transport || row.Bytes != n {
			continue
		}
		callers = append(callers, row.Callers)
		for _, e := range row.Entries {
			l := lines[e.Peer]
			if l == nil {
				l = &line{e.Peer, e.Class, map[int]float64{}, map[int]float64{}, map[int]bool{}}
				lines[e.Peer] = l
			}
			if len(e.Rounds) > 0 {
				l.rate[row.Callers], l.cpu[row.Callers] = middle(e.Rounds, "calls/s"), middle(e.Rounds, "cpu")
			} else {
				l.failed[row.Callers] = true
				holes = append(holes, fmt.Sprintf("%s with %d callers: %s", e.Peer, row.Callers, cmp.Or(e.Failed, "no reason given")))
			}
		}
	}
	if callers == nil {
		return "", fmt.Errorf("no closed loop over %s with %d bytes", transport, n)
	}
	slices.Sort(callers)
	const sorted = 1024
	var all []*line
	for _, l := range lines {
		all = append(all, l)
	}
	slices.SortFunc(all, func(a, b *line) int {
		return cmp.Or(cmp.Compare(b.rate[sorted], a.rate[sorted]), strings.Compare(a.peer, b.peer))
	})
	absent := false
	var b strings.Builder
	fmt.Fprintf(&b, "%s. Thousands of calls a second, and the client's CPU a call in µs.\n\n| | |", r.heading())
	for _, c := range callers {
		fmt.Fprintf(&b, " %d | CPU |", c)
	}
	b.WriteString("\n|---|---|" + strings.Repeat("---:|", 2*len(callers)))
	for _, l := range all {
		name := l.peer
		if l.class == "ours" {
			name = "**" + name + "**"
		}
		fmt.Fprintf(&b, "\n| %s | %s |", name, l.class)
		for _, c := range callers {
			fmt.Fprintf(&b, " %s | %s |", cell(l.rate[c]/1e3), cell(l.cpu[c]/1e3))
			absent = absent || l.rate[c] == 0 && !l.failed[c]
		}
	}
	if absent {
		holes = append(holes, "who is not among a row's contenders, see bench/peers")
	}
	if holes != nil {
		b.WriteString("\n\n–: " + strings.Join(holes, "; ") + ".")
	}
	return b.String(), nil
}

func cell(v float64) string {
	switch {
	case v == 0:
		return "–"
	case v >= 100:
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.3g", v)
}

// middle is the median of a figure over the rounds; zero when none has it.
func middle(rounds []map[string]float64, figure string) float64 {
	var values []float64
	for _, r := range rounds {
		if v, ok := r[figure]; ok {
			values = append(values, v)
		}
	}
	if values == nil {
		return 0
	}
	slices.Sort(values)
	return (values[(len(values)-1)/2] + values[len(values)/2]) / 2
}
