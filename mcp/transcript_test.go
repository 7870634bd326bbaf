package mcp_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/mcp"
)

var update = flag.Bool("update", false, "write what the transcripts in testdata say now; commit only a diff that you understand")

// metaText is what $META stands for in a transcript: the least that a modern
// request brings.
const metaText = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`

// A transcript is inputs and, indented below each, the effects that it has. The
// commands are those of player.play.
func TestTranscripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, path := range files {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txt"), func(t *testing.T) {
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			got := replay(t, string(text))
			if *update {
				require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
				return
			}
			require.Equal(t, string(text), got)
		})
	}
}

func replay(t *testing.T, script string) string {
	p := &player{t: t, runs: make(map[mcp.InvocationID]*mcp.Invocation)}
	p.reset()
	var out strings.Builder
	for line := range strings.Lines(script) {
		line = strings.TrimRight(line, "\n")
		if strings.HasPrefix(line, "    ") {
			continue
		}
		out.WriteString(line + "\n")
		if line == "" || line[0] == '#' {
			continue
		}
		for _, e := range p.play(line) {
			out.WriteString("    " + e + "\n")
		}
	}
	return out.String()
}

// player carries out a transcript's commands.
type player struct {
	t         *testing.T
	state     *mcp.State
	principal string
	runs      map[mcp.InvocationID]*mcp.Invocation
	token     string   // the last requestState or cursor that was written: $STATE
	read      []string // what feed had written
	last      mcp.ExchangeID
}

// feed gives the frame to the state on a new exchange and keeps what is written.
func (p *player) feed(frame string) {
	p.last++
	for _, e := range mcp.Step(p.state, mcp.Received{Exchange: p.last, Frame: []byte(frame)}, nil) {
		if e.Kind == mcp.Write {
			requireJSON(p.t, e.Frame)
			p.read = append(p.read, string(e.Frame))
		}
	}
}

var tokenPattern = regexp.MustCompile(`"(?:requestState|nextCursor)":"([^"]*)"`)

func (p *player) reset(change ...func(*mcp.Description)) {
	p.state = mcp.Init(newServer(p.t, change...), mcp.Options{})
}

// play carries out one line and describes the effects.
func (p *player) play(line string) []string {
	word := func() string {
		w, rest, _ := strings.Cut(line, " ")
		line = rest
		return w
	}
	var in mcp.Input
	switch command := word(); command {
	case "server": // begins anew: without anything, with the older era alone, …
		switch line {
		case "empty":
			p.reset(func(d *mcp.Description) {
				*d = mcp.Description{Info: d.Info, Key: d.Key}
			})
		case "modern":
			p.reset(func(d *mcp.Description) { d.Revisions = []mcp.Revision{mcp.Modern} })
		case "legacy":
			p.reset(func(d *mcp.Description) { d.Revisions = []mcp.Revision{mcp.NewestLegacy} })
		default:
			p.reset()
		}
		return nil
	case "as":
		p.principal = line
		return nil
	case "recv":
		in = mcp.Received{
			Exchange: mcp.ExchangeID(p.number(word())), Caller: mcp.Caller{Principal: p.principal},
			Frame: []byte(strings.NewReplacer("$META", metaText, "$STATE", p.token).Replace(line)),
		}
	case "perform": // runs the handler and tells what it came to
		v := p.runs[p.invocation(line)]
		require.NotNilf(p.t, v, "%s never started", line)
		in = mcp.Perform(context.Background(), v, nil)
	case "progress":
		in = mcp.Progressed{Invocation: p.invocation(word()), Progress: mcp.Progress{
			Value: p.float(word()), Total: p.float(word()), Message: line,
		}}
	case "log":
		id := p.invocation(word())
		level, ok := mcp.ParseLevel([]byte(word()))
		require.True(p.t, ok)
		in = mcp.Logged{Invocation: id, Message: mcp.LogMessage{Level: level, Logger: "test", Data: []byte(line)}}
	case "crash":
		in = mcp.Crashed{Invocation: p.invocation(line)}
	case "timeout":
		in = mcp.TimedOut{Invocation: p.invocation(line)}
	case "closed":
		in = mcp.ExchangeClosed{Exchange: mcp.ExchangeID(p.number(line))}
	case "answer":
		id, key := p.invocation(word()), word()
		in = mcp.Answered{Invocation: id, Key: key, Result: []byte(line)}
	case "changed":
		kind := map[string]mcp.NotificationKind{
			"tools": mcp.ToolsChanged, "prompts": mcp.PromptsChanged, "resources": mcp.ResourcesChanged, "resource": mcp.ResourceUpdated,
		}[word()]
		in = mcp.Notify{Notification: mcp.Notification{Kind: kind, URI: line}}
	case "register":
		in = mcp.RegisterTool{Tool: mcp.NewTool(mcp.Tool{Name: line}, echo)}
	case "unregister":
		in = mcp.UnregisterTool{Name: line}
	case "end":
		in = mcp.EndStreams{}
	default:
		require.Failf(p.t, "no such command", "%q", command)
	}
	effects := mcp.Step(p.state, in, nil)
	lines := make([]string, len(effects))
	for i := range effects {
		lines[i] = p.describe(&effects[i])
	}
	return lines
}

func (p *player) describe(e *mcp.Effect) string {
	switch e.Kind {
	case mcp.Admitted:
		return fmt.Sprintf("admitted %d %s", e.Exchange, e.Method)
	case mcp.Write:
		require.NotContains(p.t, string(e.Frame), "\n")
		requireJSON(p.t, e.Frame)
		if token := tokenPattern.FindSubmatch(e.Frame); token != nil {
			p.token = string(token[1])
		}
		what := "write"
		if e.Final {
			what = "answer"
		}
		if e.Refusal != mcp.NotRefused {
			what = "refuse(" + e.Refusal.String() + ")"
		}
		return fmt.Sprintf("%s %d %s", what, e.Exchange, e.Frame)
	case mcp.Start:
		p.runs[e.Invocation] = e.Run
		return strings.TrimSpace(fmt.Sprintf("start %s %s %s", name(e.Invocation), e.Run.Method(), e.Run.Name()))
	case mcp.Cancel:
		return "cancel " + name(e.Invocation)
	case mcp.Close:
		return fmt.Sprintf("close %d", e.Exchange)
	case mcp.Ask:
		return fmt.Sprintf("ask %s %s %s %s", name(e.Invocation), e.Key, e.Method, e.Frame)
	case mcp.Resolve:
		return fmt.Sprintf("resolve %s %s%v", e.ID, e.Frame, e.Err)
	}
	return e.Kind.String()
}

// name writes an invocation as its exchange and its run.
func name(id mcp.InvocationID) string {
	return fmt.Sprintf("%d.%d", id.Exchange(), id.Int()&0xffff)
}

func (p *player) invocation(text string) mcp.InvocationID {
	exchange, run, _ := strings.Cut(text, ".")
	return mcp.InvocationID(p.number(exchange)<<16 | p.number(run))
}

func (p *player) number(text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	require.NoError(p.t, err)
	return n
}

func (p *player) float(text string) float64 {
	f, err := strconv.ParseFloat(text, 64)
	require.NoError(p.t, err)
	return f
}

// requireJSON demands that what is written is a message, or a batch of answers,
// that our own strict scan takes.
func requireJSON(t testing.TB, frame []byte) {
	t.Helper()
	scan := func(text []byte) {
		var e codec.Envelope
		require.NoErrorf(t, codec.Scan(text, &e, codec.ScanOptions{}), "%s", text)
	}
	if frame[0] != '[' {
		scan(frame)
		return
	}
	for text, err := range codec.SplitBatch(frame, codec.ScanOptions{}) {
		require.NoError(t, err)
		scan(text)
	}
}
