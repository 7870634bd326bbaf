package contest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/correlator-go/correlator/bench/peers/load"
	"github.com/correlator-go/correlator/bench/peers/report"
	"github.com/correlator-go/correlator/bench/peers/server"
)

// root is the module that the load generator belongs to.
const root = "github.com/correlator-go/correlator"

// loadgen lets the load generator do the row at its peak: a closed loop in
// batches. It is built first, from the same source.
func (c *Contest) loadgen(row *report.Row) (load.Figures, error) {
	if c.generator == "" {
		if err := c.buildLoadgen(); err != nil {
			return nil, err
		}
	}
	a, err := c.server(server.Lines, false)
	if err != nil {
		return nil, err
	}
	out, err := output(exec.Command(c.generator, "run", "-target", "unix:"+a.Unix, "-c", strconv.Itoa(row.Callers), "-size", strconv.Itoa(row.Bytes),
		"-warmup", c.plan.Warm.String(), "-d", c.plan.Window.String(), "-quiet", "-o", "-"))
	if err != nil {
		return nil, err
	}
	var document struct {
		Rates struct {
			Answered float64 `json:"answered"`
		} `json:"rates"`
		Cost struct {
			CPU    *float64 `json:"cpuNsPerCall"`
			Allocs float64  `json:"allocsPerCall"`
		} `json:"cost"`
	}
	at := bytes.IndexByte(out, '{')
	if at < 0 {
		return nil, fmt.Errorf("loadgen wrote no document: %.200q", out)
	}
	if err := json.NewDecoder(bytes.NewReader(out[at:])).Decode(&document); err != nil {
		return nil, fmt.Errorf("loadgen: %w", err)
	}
	if document.Cost.CPU == nil {
		return nil, errors.New("this system does not tell processor time")
	}
	return load.Figures{load.Rate: document.Rates.Answered, load.CPU: *document.Cost.CPU, load.Allocs: document.Cost.Allocs}, nil
}

func (c *Contest) buildLoadgen() error {
	source, err := output(exec.Command("go", "list", "-m", "-f", "{{.Dir}}", root))
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "loadgen")
	if err != nil {
		return err
	}
	c.stops = append(c.stops, func() { _ = os.RemoveAll(dir) })
	path := filepath.Join(dir, "loadgen.exe") // the name that every system runs
	if _, err := output(exec.Command("go", "build", "-C", strings.TrimSpace(string(source)), "-o", path, "./cmd/loadgen")); err != nil {
		return err
	}
	c.generator = path
	return nil
}

// output runs a command; its error holds what the command said.
func output(c *exec.Cmd) ([]byte, error) {
	var out, said bytes.Buffer
	c.Stdout, c.Stderr = &out, &said
	if err := c.Run(); err != nil {
		return nil, fmt.Errorf("%s: %w: %s", filepath.Base(c.Path), err, bytes.TrimSpace(said.Bytes()))
	}
	return out.Bytes(), nil
}
