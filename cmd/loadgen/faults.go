package main

import (
	"flag"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/internal/echo"
)

// shapeFlags adds the faults of an echo server to f.
func shapeFlags(f *flag.FlagSet, s *echo.Shape) {
	f.Func("delay", "law by which answers are held back", func(text string) (err error) {
		s.Delay, err = echo.ParseDelay(text)
		return err
	})
	shareFlag(f, "blackhole", "share that is never answered", &s.Blackhole)
	shareFlag(f, "late", "share that is answered too late", &s.Late)
	shareFlag(f, "dup", "share that is answered twice", &s.Duplicate)
	f.DurationVar(&s.LateBy, "late-by", 0, "after what time late answers come")
	f.IntVar(&s.Reorder, "reorder", 0, "how many answers are shuffled")
	f.Int64Var(&s.DieAfter, "die-after", 0, "requests after which the connection ends")
	f.Func("progress", "pace of progress while an answer is held back", func(text string) (err error) {
		s.ProgressEvery, err = time.ParseDuration(strings.TrimSpace(strings.TrimPrefix(text, "every ")))
		return err
	})
	f.Func("stall-read", "stop reading for a time, as 1s@5s", func(text string) (err error) {
		length, after, hasAfter := strings.Cut(text, "@")
		if s.StallFor, err = time.ParseDuration(length); err == nil && hasAfter {
			s.StallAfter, err = time.ParseDuration(after)
		}
		return err
	})
}

// shareFlag reads 1% or 0.01.
func shareFlag(f *flag.FlagSet, name, usage string, to *float64) {
	f.Func(name, usage, func(text string) error {
		number, percent := strings.CutSuffix(text, "%")
		v, err := strconv.ParseFloat(number, 64)
		if err != nil {
			return fmt.Errorf("want a share such as 1%% or 0.01")
		}
		if percent {
			v /= 100
		}
		*to = v
		return nil
	})
}

func framerOf(name string) (codec.Framer, error) {
	switch name {
	case "line":
		return codec.LineFramer{}, nil
	case "headers":
		return codec.HeaderFramer{}, nil
	case "length":
		return codec.LengthFramer{}, nil
	}
	return nil, usagef("framing %q: want line, headers or length", name)
}

func profileOf(name string) (codec.Profile, error) {
	switch name {
	case "mcp":
		return codec.MCP, nil
	case "jsonrpc":
		return codec.JSONRPC, nil
	case "lsp":
		return codec.LSP, nil
	}
	return 0, usagef("profile %q: want mcp, jsonrpc or lsp", name)
}
