package plan

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// Step is one message of a prelude: a request, whose answer is waited for, or a
// notification.
type Step struct {
	Request string          `json:"request"` // its method, "" in a notification
	Notify  string          `json:"notify"`  // its method, "" in a request
	Params  json.RawMessage `json:"params"`  // an object or an array, compact; nil if absent
}

// ParsePrelude reads a JSON array of steps, of which none may have members that are
// not known, and says which one is wrong.
func ParsePrelude(text []byte) ([]Step, error) {
	var raw []json.RawMessage
	if err := strictly(text, &raw); err != nil {
		return nil, fmt.Errorf("want a JSON array of messages: %w", err)
	}
	if len(raw) == 0 {
		return nil, errors.New("there is no message in it")
	}
	steps := make([]Step, len(raw))
	for i := range raw {
		err := strictly(raw[i], &steps[i])
		if err == nil {
			err = steps[i].check()
		}
		if err != nil {
			return nil, fmt.Errorf("message %d of %d: %w", i+1, len(raw), err)
		}
	}
	return steps, nil
}

func (s *Step) check() error {
	if (s.Request == "") == (s.Notify == "") {
		return errors.New("want one of request and notify")
	}
	if s.Params == nil {
		return nil
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, s.Params); err != nil {
		return err
	}
	s.Params = compact.Bytes()
	if s.Params[0] != '{' && s.Params[0] != '[' {
		return errors.New("its params are no object and no array")
	}
	return nil
}
