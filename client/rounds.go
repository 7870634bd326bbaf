package client

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/correlator-go/correlator/mcp"
)

// round is what the result of a call that is not complete asks for.
type round struct {
	InputRequests map[string]mcp.InputRequest `json:"inputRequests"`
	RequestState  *json.RawMessage            `json:"requestState"`
}

// rounds looks at the result of r, and as long as the server asks for input gives
// it and sends r again.
func (c *Client) rounds(ctx context.Context, r *request, text []byte, o CallOptions) ([]byte, error) {
	if !c.agreed().revision.IsModern() {
		return text, nil
	}
	original := r.params
	for n := 0; ; n++ {
		state, err := r.look(text)
		if err != nil {
			return nil, err
		}
		if state == nil {
			return text, nil
		}
		if n >= c.o.MaxRounds {
			return nil, &InputLoopExceeded{Method: r.method, Rounds: n}
		}
		if r.params, err = c.nextRound(ctx, r.method, original, state); err != nil {
			return nil, err
		}
		if o.Progress != nil {
			r.progress = rising(o.Progress) // a request of its own begins anew
		}
		if text, err = c.send(ctx, r); err != nil {
			return nil, err
		}
	}
}

// look is readRound for the result of r, which is read once.
func (r *request) look(text []byte) (*round, error) {
	if !r.looked {
		r.asks, r.odd = readRound(r.method, text)
		r.looked = true
	}
	return r.asks, r.odd
}

// readRound reads whether a result asks for input; nil says that it is complete.
func readRound(method string, text []byte) (*round, error) {
	if !bytes.Contains(text, []byte("resultType")) && !bytes.Contains(text, []byte(`\u`)) {
		return nil, nil // absent means complete
	}
	if len(text) == 0 || text[0] != '{' {
		return nil, nil
	}
	var r round
	var kind struct {
		ResultType json.RawMessage `json:"resultType"`
	}
	if err := decode(method, text, &kind); err != nil {
		return nil, err
	}
	if len(kind.ResultType) == 0 || string(kind.ResultType) == "null" {
		return nil, nil // absent
	}
	if kind.ResultType[0] != '"' {
		return nil, invalid(method, "resultType %.40s", kind.ResultType)
	}
	var name string
	if err := decode(method, kind.ResultType, &name); err != nil {
		return nil, err
	}
	switch name {
	case mcp.ResultComplete:
		return nil, nil
	case mcp.ResultInputRequired:
	default:
		return nil, invalid(method, "resultType %q", name)
	}
	switch method {
	case mcp.MethodCallTool, mcp.MethodGetPrompt, mcp.MethodReadResource:
	default:
		return nil, invalid(method, "resultType %q in the answer to a method that cannot ask", name)
	}
	if err := decode(method, text, &r); err != nil {
		return nil, err
	}
	if r.InputRequests == nil && r.RequestState == nil {
		return nil, invalid(method, "input is required, but neither inputRequests nor requestState is there")
	}
	return &r, nil
}

// nextRound answers the questions and gives the params of the request that follows.
func (c *Client) nextRound(ctx context.Context, method string, params []byte, r *round) ([]byte, error) {
	answers, err := c.answers(ctx, method, r.InputRequests)
	if err != nil {
		return nil, err
	}
	var members []byte
	if len(r.InputRequests) > 0 {
		var responses []byte
		for _, key := range slices.Sorted(maps.Keys(answers)) {
			responses = appendMember(responses, key, answers[key])
		}
		members = appendMember(members, "inputResponses", slices.Concat([]byte("{"), responses, []byte("}")))
	}
	if r.RequestState != nil {
		members = appendMember(members, "requestState", *r.RequestState) // byte for byte
	}
	// params is an object with at least _meta in it.
	i := bytes.IndexByte(params, '{') + 1
	return slices.Concat(params[:i], members, []byte{','}, params[i:]), nil
}

// answers answers all questions at once.
func (c *Client) answers(ctx context.Context, method string, questions map[string]mcp.InputRequest) (map[string][]byte, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var (
		mu      sync.Mutex
		wg      sync.WaitGroup
		first   error
		answers = make(map[string][]byte, len(questions))
	)
	for key, q := range questions {
		wg.Go(func() {
			text, err := c.answer(ctx, q.Method, q.Params)
			mu.Lock()
			defer mu.Unlock()
			if err != nil && first == nil {
				first = fmt.Errorf("client: %s: input request %q (%s): %w", method, key, q.Method, err)
				cancel(first)
			}
			answers[key] = text
		})
	}
	wg.Wait()
	return answers, first
}
