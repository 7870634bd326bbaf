package claim

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"time"

	"github.com/correlator-go/correlator/bench/page"
)

// The kinds of blocks that an update fills, see package page.
const (
	// claimsBlock has a regexp, as -only has it, and holds the table of the claims
	// that match.
	claimsBlock = "claims"
	// shortBlock holds every row of the document that is short or failed.
	shortBlock = "short"
	// machineBlock holds what the last update was measured on.
	machineBlock = "machine"
)

// run is what an update says of its measurements.
type run struct {
	commit, date, machine string
	rounds                int
}

// thisRun describes the run of this program.
func thisRun(began time.Time, rounds int) run {
	return run{
		commit: commit(), date: began.UTC().Format(time.DateOnly), rounds: rounds,
		machine: fmt.Sprintf("%d CPUs, %s, %s/%s, %s", runtime.NumCPU(), Processor(), runtime.GOOS, runtime.GOARCH, runtime.Version()),
	}
}

// commit is the tree's, with "-dirty" behind it where files were changed since.
func commit() string {
	out, err := exec.Command("git", "describe", "--always", "--dirty", "--exclude", "*").Output()
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(out))
}

// Processor is the name of the processor where Linux tells it.
func Processor() string {
	info, err := os.ReadFile("/proc/cpuinfo")
	if err == nil {
		if m := regexp.MustCompile(`(?m)^model name\s*: (.+)$`).FindSubmatch(info); m != nil {
			return string(m[1])
		}
	}
	return "processor not named"
}

// update writes the reports into the document at path. all are the names of all
// claims, as "area: name": a block whose claims were not all measured stays as it
// is.
func update(path string, all []string, reports []report, r run) error {
	old, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	text, err := updated(string(old), all, reports, r)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	// A run that is stopped here leaves the old document.
	temp, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer os.Remove(temp.Name())
	if _, err := temp.WriteString(text); err != nil {
		return err
	}
	if err := temp.Chmod(0o644); err != nil {
		return err
	}
	if err := temp.Close(); err != nil {
		return err
	}
	return os.Rename(temp.Name(), path)
}

// updated is update on texts.
func updated(text string, all []string, reports []report, r run) (string, error) {
	filled := 0
	text, err := page.Replace(text, claimsBlock, func(arg string) (string, bool, error) {
		pattern, err := regexp.Compile(arg)
		if err != nil {
			return "", false, err
		}
		wanted := 0
		for _, name := range all {
			if pattern.MatchString(name) {
				wanted++
			}
		}
		if wanted == 0 {
			return "", false, fmt.Errorf("no claim matches %q", arg)
		}
		var rows []report
		for _, m := range reports {
			if pattern.MatchString(m.full()) {
				rows = append(rows, m)
			}
		}
		if len(rows) < wanted {
			return "", false, nil
		}
		filled++
		return section(rows, r), true, nil
	})
	if err != nil {
		return "", err
	}
	if filled > 0 {
		text, err = page.Replace(text, machineBlock, func(string) (string, bool, error) {
			return fmt.Sprintf("Machine of the last update: %s. Commit `%s`, %s.", r.machine, r.commit, r.date), true, nil
		})
		if err != nil {
			return "", err
		}
	}
	return ListShort(text)
}

// ListShort fills the blocks "short" of a document with the rows of all its tables
// that are short, failed or unknown.
func ListShort(text string) (string, error) {
	bad := shortRows(text)
	return page.Replace(text, shortBlock, func(string) (string, bool, error) { return bad, true, nil })
}

// section is one block: where its figures are from, and the table.
func section(rows []report, r run) string {
	var b strings.Builder
	counts := map[Verdict]int{}
	for _, m := range rows {
		counts[m.Verdict]++
	}
	fmt.Fprintf(&b, "Commit `%s`, %s, at most %d rounds: %d ok, %d short", r.commit, r.date, r.rounds, counts[OK], counts[Short])
	if n := counts[Failed]; n > 0 {
		fmt.Fprintf(&b, ", %d not measured", n)
	}
	b.WriteString(".\n\n| claim | demanded | measured | |\n|---|---:|---:|---|")
	for _, m := range rows {
		verdict := string(m.Verdict)
		if m.Verdict == Short || m.Verdict == Failed {
			verdict = "**" + verdict + "**"
		}
		fmt.Fprintf(&b, "\n| %s | %s | %s | %s |", m.Name, m.demanded(), m.measured(), verdict)
	}
	return b.String()
}

var badRow = regexp.MustCompile(`^\| (.+) \| (.*) \| (.*) \| \*\*(short|failed|unknown)\*\* \|$`)

// shortRows lists the rows of all tables of the text that are short, failed or unknown,
// each with the heading that it stands under.
func shortRows(text string) string {
	var rows []string
	heading := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if title, ok := strings.CutPrefix(line, "## "); ok {
			heading = title
		}
		switch m := badRow.FindStringSubmatch(line); {
		case m == nil:
		case m[4] == string(Failed):
			rows = append(rows, fmt.Sprintf("- %s: %s: could not be measured", heading, m[1]))
		case m[4] == "unknown": // of bench/peers, which says why
			rows = append(rows, fmt.Sprintf("- %s: %s: %s: %s", heading, m[1], m[2], m[3]))
		default:
			rows = append(rows, fmt.Sprintf("- %s: %s: %s demanded, %s measured", heading, m[1], m[2], m[3]))
		}
	}
	if rows == nil {
		return "No row is short."
	}
	return strings.Join(rows, "\n")
}
