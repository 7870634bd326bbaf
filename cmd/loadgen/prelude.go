package main

import (
	"context"
	"fmt"
	"os"

	"github.com/correlator-go/correlator/conn"
	"github.com/correlator-go/correlator/internal/load/drive"
	"github.com/correlator-go/correlator/internal/load/plan"
)

// readPrelude reads the file of -prelude.
func (s *settings) readPrelude(w *words) error {
	if w.prelude == "" {
		return nil
	}
	if s.web() {
		return fmt.Errorf("-prelude is of connections; HTTP has none")
	}
	text, err := os.ReadFile(w.prelude)
	if err == nil {
		s.prelude, err = plan.ParsePrelude(text)
	}
	if err != nil {
		return fmt.Errorf("-prelude %s: %w", w.prelude, err)
	}
	return nil
}

// notifier is what a connection can beside what every link can.
type notifier interface {
	Notify(ctx context.Context, method string, params []byte) error
}

// play says the prelude to one peer: in order, each request answered before what
// follows it. Only ctx bounds the answers: an initialize may take its time.
func play(ctx context.Context, l drive.Link, steps []plan.Step) error {
	for i, step := range steps {
		var err error
		method := step.Request
		if method != "" {
			_, err = l.Call(ctx, method, step.Params, conn.CallOptions{Timeout: conn.NoTimeout})
		} else {
			method = step.Notify
			err = l.(notifier).Notify(ctx, method, step.Params)
		}
		if err != nil {
			return fmt.Errorf("prelude, message %d of %d, %s: %w", i+1, len(steps), method, err)
		}
	}
	return nil
}
