package cluster

import (
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/correlator-go/correlator/gateway"
)

// failure is why a call has no answer of its server, on its way to the node that asked,
// which is to tell its clients what it would tell them of a server of its own.
type failure struct {
	// Call is the number of the call.
	Call int64
	// The others are those of gateway.Failure.
	Code           int64
	Text, Upstream string
	Cause          gateway.Cause `json:",omitempty"`
	RetryAfter     time.Duration `json:",omitempty"`
}

// failureText bounds the words of a failure, in bytes: with escapes they go in one message.
const failureText = minPayload / 8

// failureOf is the text of a failure.
func failureOf(call int64, err error) string {
	f := failure{Call: call, Code: gateway.CodeUpstreamLost, Text: err.Error()}
	if known, ok := errors.AsType[*gateway.Failure](err); ok {
		f.Code, f.Text, f.Upstream, f.Cause, f.RetryAfter = known.Code, known.Text, known.Upstream, known.Cause, known.RetryAfter
	}
	if len(f.Text) > failureText {
		f.Text = strings.ToValidUTF8(f.Text[:failureText], "") + "…"
	}
	text, _ := json.Marshal(f) // strings and numbers only
	return string(text)
}

// why is the error that it stands for.
func (f *failure) why() error {
	return &gateway.Failure{Code: f.Code, Text: f.Text, Upstream: f.Upstream, Cause: f.Cause, RetryAfter: f.RetryAfter}
}
