package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/correlator-go/correlator/internal/load/plan"
)

// readRequest reads what is sent.
func (s *settings) readRequest(w *words) error {
	switch {
	case w.mix != "":
		return s.readMix(w)
	case s.mcp:
		for _, name := range []string{"method", "size", "body"} {
			if w.set[name] {
				return fmt.Errorf("-mcp loads tools/call with -tool and -args; -%s does not go with it (-mix does)", name)
			}
		}
		s.one(plan.Request{Tool: w.tool, Args: raw(w.args)})
		_, err := s.requests[0].Entry(0, nil)
		return err
	case w.set["tool"] || w.set["args"]:
		return fmt.Errorf("-tool and -args need -mcp")
	case w.method == "":
		return fmt.Errorf("-method cannot be empty")
	case w.body == "":
		s.one(plan.Request{Method: w.method, Size: w.size})
		_, _, err := plan.ParseSize(w.size)
		return err
	case w.set["size"]:
		return fmt.Errorf("-size and -body are two ways to say the same: give one")
	}
	body := []byte(w.body)
	if name, isFile := strings.CutPrefix(w.body, "@"); isFile {
		var err error
		if body, err = os.ReadFile(name); err != nil {
			return fmt.Errorf("-body: %w", err)
		}
	}
	s.one(plan.Request{Method: w.method, Params: body})
	entry, err := s.requests[0].Entry(0, nil)
	if err != nil {
		return fmt.Errorf("-body: %w", err)
	}
	s.payload = fmt.Sprintf("with %d B of params from -body", len(entry.Payload.Params(0)))
	return nil
}

func raw(text string) json.RawMessage {
	if text == "" {
		return nil
	}
	return json.RawMessage(text)
}

// one makes r the only kind of request.
func (s *settings) one(r plan.Request) {
	r.Weight = 1
	s.requests, s.payload = []plan.Request{r}, r.Describe()
	if s.method = r.Method; r.Tool != "" {
		s.method = "tools/call"
	}
}

// readMix reads the file of -mix.
func (s *settings) readMix(w *words) error {
	for _, name := range []string{"method", "size", "body", "tool", "args"} {
		if w.set[name] {
			return fmt.Errorf("-mix says what is sent; -%s does not go with it", name)
		}
	}
	text, err := os.ReadFile(w.mix)
	if err == nil {
		s.requests, err = plan.ParseMix(text)
	}
	if err != nil {
		return fmt.Errorf("-mix %s: %w", w.mix, err)
	}
	for i, r := range s.requests {
		switch {
		case r.Tool != "" && !s.mcp:
			return fmt.Errorf("-mix %s: request %d calls a tool, which needs -mcp", w.mix, i+1)
		case r.Size != "" && s.mcp:
			return fmt.Errorf("-mix %s: request %d: made-up params of a size do not go with -mcp", w.mix, i+1)
		}
	}
	s.method, s.payload = "mix", fmt.Sprintf("of %d kinds from %s", len(s.requests), filepath.Base(w.mix))
	return nil
}

// mix is what is sent once the peer is known. meta is what each request must carry.
func (s *settings) mix(meta []byte) (*plan.Mix, error) {
	entries := make([]plan.Entry, len(s.requests))
	for i := range s.requests {
		var err error
		if entries[i], err = s.requests[i].Entry(plan.Subseed(s.seed, i), meta); err != nil {
			return nil, fmt.Errorf("request %d: %w", i+1, err)
		}
	}
	return plan.NewMix(entries, s.seed)
}
