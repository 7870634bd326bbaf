package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	hdr "github.com/HdrHistogram/hdrhistogram-go"

	"github.com/correlator-go/correlator/internal/load/drive"
	"github.com/correlator-go/correlator/internal/load/plan"
	"github.com/correlator-go/correlator/internal/load/report"
	"github.com/correlator-go/correlator/internal/load/target"
)

// describe is the settings as the report shows them.
func (s *settings) describe(session target.Session, stages []plan.Stage) report.Config {
	c := report.Config{
		Args: append([]string{}, s.args...), Target: s.target, Loop: "closed", Mode: s.drive.Mode.String(), InFlight: s.drive.InFlight,
		Drop: s.drive.Drop, Warmup: s.drive.Warmup.Seconds(), Duration: s.drive.Duration.Seconds(), Requests: s.drive.Requests,
		Timeout: int64(s.drive.Timeout), End: s.drive.End.String(), Framing: s.framing, Connections: s.conns, Method: s.method, Payload: s.payload,
		MCP: session.Version, Peer: session.Server, Faults: s.shape.String(), Seed: s.seed, InProcess: s.spec.Kind == "pipe",
	}
	if len(stages) > 0 {
		c.Loop, c.Schedule = "open", stagesText(stages)
	}
	return c
}

func stagesText(stages []plan.Stage) string {
	var out []string
	for _, stage := range stages {
		rates := rateText(stage.From)
		if stage.To != stage.From {
			rates += ".." + rateText(stage.To)
		}
		if stage.For == endless {
			out = append(out, rates)
			continue
		}
		length := stage.For.String()
		if strings.HasSuffix(length, "m0s") {
			length = strings.TrimSuffix(length, "0s")
		}
		if strings.HasSuffix(length, "h0m") {
			length = strings.TrimSuffix(length, "0m")
		}
		out = append(out, length+":"+rates)
	}
	return strings.Join(out, ",")
}

func rateText(v float64) string { return fmt.Sprintf("%.6g/s", v) }

// creatable finds out, before a run that may be long, whether its files can be left
// behind. It leaves none.
func (s *settings) creatable() error {
	for _, name := range []string{s.output, s.hlog, s.hdr} {
		if name = s.numbered(name, 0); name == "-" && s.output == "-" {
			continue
		}
		if err := creatable(name); err != nil {
			return err
		}
	}
	return nil
}

func creatable(name string) error {
	if name == "" {
		return nil
	}
	info, err := os.Stat(name)
	isNew := errors.Is(err, fs.ErrNotExist)
	if err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		return nil // a pipe's reader would take our leaving for the end
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE, 0o666)
	if err != nil {
		return err
	}
	err = f.Close()
	if isNew {
		err = errors.Join(err, os.Remove(name))
	}
	return err
}

// leave writes the files that were asked for after run number i.
func (s *settings) leave(i int, d *report.Document, r *drive.Result, stdout io.Writer) error {
	output, hlog, percentiles := s.numbered(s.output, i), s.numbered(s.hlog, i), s.numbered(s.hdr, i)
	if err := writeTo(output, stdout, d.Write); err != nil {
		return err
	}
	if hlog != "" {
		if err := writeFile(hlog, func(w io.Writer) error { return report.WriteLog(w, r.Began, r.Rows) }); err != nil {
			return err
		}
	}
	if percentiles == "" {
		return nil
	}
	for name, h := range map[string]*hdr.Histogram{percentiles: r.Total.Response, percentiles + ".service": r.Total.Service} {
		if err := writeFile(name, func(w io.Writer) error { return report.WritePercentiles(w, h) }); err != nil {
			return err
		}
	}
	return nil
}

// writeTo writes the file that a flag names: none for "", standard output for "-".
func writeTo(name string, stdout io.Writer, write func(io.Writer) error) error {
	switch name {
	case "":
		return nil
	case "-":
		return write(stdout)
	}
	return writeFile(name, write)
}

func writeFile(name string, write func(io.Writer) error) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	if err := write(f); err != nil {
		_ = f.Close()
		return fmt.Errorf("writing %s: %w", name, err)
	}
	return f.Close()
}
