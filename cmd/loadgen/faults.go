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
	f.Func("delay", "", func(text string) (err error) {
		s.Delay, err = echo.ParseDelay(text)
		return err
	})
	shareFlag(f, "blackhole", &s.Blackhole)
	shareFlag(f, "late", &s.Late)
	shareFlag(f, "dup", &s.Duplicate)
	f.DurationVar(&s.LateBy, "late-by", 0, "")
	f.IntVar(&s.Reorder, "reorder", 0, "")
	f.Int64Var(&s.DieAfter, "die-after", 0, "")
	f.Func("progress", "", func(text string) (err error) {
		s.ProgressEvery, err = time.ParseDuration(strings.TrimSpace(strings.TrimPrefix(text, "every ")))
		return err
	})
	f.Func("stall-read", "", func(text string) (err error) {
		length, after, hasAfter := strings.Cut(text, "@")
		if s.StallFor, err = time.ParseDuration(length); err == nil && hasAfter {
			s.StallAfter, err = time.ParseDuration(after)
		}
		return err
	})
}

// shareFlag reads 1% or 0.01.
func shareFlag(f *flag.FlagSet, name string, to *float64) {
	f.Func(name, "", func(text string) error {
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
