package mcp_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/internal/invariants"
	"github.com/correlator-go/correlator/mcp"
)

// callFrame is a tools/call as clients write it.
const callFrame = `{"jsonrpc":"2.0","id":12345,"method":"tools/call","params":{"name":"echo","arguments":{"text":"a sentence that somebody wants to hear again, word by word"},` +
	`"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"bench","version":"1.0.0"},` +
	`"io.modelcontextprotocol/clientCapabilities":{"sampling":{},"elicitation":{}},"progressToken":12345}}}`

// steadyState is a connection that has seen so many calls that its tables do not
// grow any more.
func steadyState(t testing.TB) (*mcp.State, func() mcp.ExchangeID) {
	s := mcp.Init(newServer(t), mcp.Options{})
	last := mcp.ExchangeID(0)
	next := func() mcp.ExchangeID { last++; return last }
	for range 20_000 {
		mcp.Step(s, mcp.ExchangeClosed{Exchange: next()}, nil)
	}
	return s, next
}

// Step for tools/call makes the invocation and its copy of the request, and
// nothing else; the answer is the frame that is written.
func TestAllocations(t *testing.T) {
	if invariants.Enabled || invariants.Race {
		t.Skip("allocations are counted in the plain build")
	}
	s, next := steadyState(t)
	effects := make([]mcp.Effect, 0, 8)
	frame := []byte(callFrame)
	var run *mcp.Invocation
	var outcome mcp.Outcome
	calls := testing.AllocsPerRun(1000, func() {
		effects = mcp.Step(s, mcp.Received{Exchange: next(), Frame: frame}, effects[:0])
		run = effects[1].Run
	})
	require.LessOrEqual(t, calls, 3.0, "a tools/call that stays open: the exchange too")
	outcome = mcp.Perform(context.Background(), run, nil).Outcome
	calls = testing.AllocsPerRun(1000, func() {
		effects = mcp.Step(s, mcp.Received{Exchange: next(), Frame: frame}, effects[:0])
		effects = mcp.Step(s, mcp.Finished{Invocation: effects[1].Invocation, Outcome: outcome}, effects[:0])
	})
	require.LessOrEqual(t, calls, 3.0, "a tools/call and its answer")
	effects = mcp.Step(s, mcp.Received{Exchange: next(), Frame: frame}, effects[:0])
	value := 0.0
	calls = testing.AllocsPerRun(1000, func() {
		value++
		effects = mcp.Step(s, mcp.Progressed{Invocation: run.ID(), Progress: mcp.Progress{Value: value}}, effects[:0])
	})
	require.LessOrEqual(t, calls, 2.0, "a progress report")
}

func BenchmarkStep(b *testing.B) {
	frame := []byte(callFrame)
	b.Run("scan", func(b *testing.B) {
		b.ReportAllocs()
		var e codec.Envelope
		for b.Loop() {
			if err := codec.Scan(frame, &e, codec.ScanOptions{}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("call", func(b *testing.B) {
		s, next := steadyState(b)
		effects := make([]mcp.Effect, 0, 8)
		finished := mcp.Finished{Outcome: outcomeOf(b, frame)}
		b.ReportAllocs()
		for b.Loop() {
			effects = mcp.Step(s, mcp.Received{Exchange: next(), Frame: frame}, effects[:0])
			finished.Invocation = effects[1].Invocation
			effects = mcp.Step(s, finished, effects[:0])
		}
	})
	b.Run("perform", func(b *testing.B) {
		s := mcp.Init(newServer(b), mcp.Options{})
		run := mcp.Step(s, mcp.Received{Exchange: 1, Frame: frame}, nil)[1].Run
		b.ReportAllocs()
		for b.Loop() {
			mcp.Perform(context.Background(), run, nil)
		}
	})
}

// outcomeOf is what the handler for a frame comes to.
func outcomeOf(b testing.TB, frame []byte) mcp.Outcome {
	s := mcp.Init(newServer(b), mcp.Options{})
	effects := mcp.Step(s, mcp.Received{Exchange: 1, Frame: frame}, nil)
	return mcp.Perform(context.Background(), effects[1].Run, nil).Outcome
}
