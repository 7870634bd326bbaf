package chart

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"strings"

	"github.com/correlator-go/correlator/bench/peers/load"
	"github.com/correlator-go/correlator/bench/peers/peer"
	"github.com/correlator-go/correlator/bench/peers/report"
)

// The layout, in the units of the picture. Shown at the width of a README a unit
// is about a pixel.
const (
	width    = 820
	labels   = 215 // right edge of the names
	barsFrom = labels + 10
	barsTo   = 640
	rowStep  = 26
	barSize  = 16
	head     = 72
	foot     = 58
)

const style = `
 text { font: 14px system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; fill: #1f2328 }
 .title { font-size: 18px; font-weight: 600 }
 .quiet { fill: #59636e; font-size: 12.5px }
 .strong { font-weight: 600 }
 .back { fill: #ffffff } .ours { fill: #0969da } .json { fill: #8c959f } .other { fill: #c8ccd1 }
 .floor { fill: none; stroke: #8c959f; stroke-dasharray: 3 3 }
 @media (prefers-color-scheme: dark) {
  text { fill: #e6edf3 } .quiet { fill: #9198a1 }
  .back { fill: #0d1117 } .ours { fill: #4493f8 } .json { fill: #767e87 } .other { fill: #454c54 }
  .floor { stroke: #767e87 }
 }`

// bar is one line of the chart.
type bar struct {
	name, class string
	rate, cpu   float64
}

// names are what readers know the contenders as; one that is missing keeps the
// name it has in tables, one without a name is left out of the picture.
var names = map[string]string{
	peer.Blocking: "correlator", peer.Callbacks: "correlator, callbacks", peer.Batches: "",
	peer.Typed: "", peer.Into: "", peer.InOrder: "order only, no ids", peer.Windows: "",
	"lsp-dev-conn": "go.lsp.dev/jsonrpc2", "lsp-dev-conn+buffer": "go.lsp.dev + write buffer", "lsp-dev-pipeline": "",
	"lsp-dev-pipeline+buffer": "go.lsp.dev pipeline + buffer", "rueidis-connection-timeout": "",
	peer.Rueidis: "rueidis", "fasthttp-pipeline": "fasthttp pipeline", "net-rpc-json": "net/rpc, JSON", "net-rpc-gob": "net/rpc, gob",
	"x-exp": "x/exp/jsonrpc2", "go-ethereum": "go-ethereum/rpc", "creachadair": "creachadair/jrpc2",
	"sourcegraph": "sourcegraph/jsonrpc2", peer.MCPGo: "mark3labs/mcp-go", peer.GoSDK: "MCP go-sdk", peer.GRPC: "grpc-go", "nats": "nats.go",
}

// ErrNoRow says that the report lacks the row that the chart shows.
var ErrNoRow = errors.New("chart: the report has no closed loop over unix with 1,024 callers of 100 bytes")

// Headline draws the row of 1,024 callers with 100 bytes over a unix socket.
func Headline(r *report.Report) ([]byte, error) {
	row := r.Find(report.Row{Scenario: report.Closed, Transport: "unix", Callers: 1024, Bytes: 100})
	if row == nil {
		return nil, ErrNoRow
	}
	bars := barsOf(row)
	if len(bars) == 0 {
		return nil, ErrNoRow
	}
	height := head + rowStep*len(bars) + foot
	var b bytes.Buffer
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img" aria-label="%s">`+"\n",
		width, height, width, height, text(description(bars)))
	fmt.Fprintf(&b, "<style>%s\n</style>\n<rect class=\"back\" width=\"%d\" height=\"%d\"/>\n", style, width, height)
	fmt.Fprintf(&b, `<text class="title" x="20" y="30">Calls a second over one connection</text>`+"\n")
	fmt.Fprintf(&b, `<text class="quiet" x="20" y="52">1,024 calls of 100 bytes in flight over a unix socket, each with a timeout; on the right the client's CPU time per call</text>`+"\n")
	for i, x := range bars {
		x.draw(&b, head+rowStep*i, bars[0].rate)
	}
	legend(&b, height-34)
	fmt.Fprintf(&b, `<text class="quiet" x="20" y="%d">%s</text>`+"\n</svg>\n", height-12, text(fmt.Sprintf(
		"%s, %d CPUs for client and server, %s %s, %s", r.Machine.CPU, r.Machine.CPUs, r.Machine.OS, r.Machine.Arch, r.Machine.Go)))
	return b.Bytes(), nil
}

// barsOf lists who is shown, the fastest first.
func barsOf(row *report.Row) []bar {
	var out []bar
	for _, e := range row.Ranked(load.Rate) {
		name, known := names[e.Peer]
		if known && name == "" {
			continue
		}
		if !known {
			name = e.Peer
		}
		rate, _ := e.Median(load.Rate)
		cpu, _ := e.Median(load.CPU)
		out = append(out, bar{name, map[peer.Class]string{peer.Ours: "ours", peer.JSON: "json", peer.Floor: "floor"}[e.Class], rate, cpu})
		if out[len(out)-1].class == "" {
			out[len(out)-1].class = "other"
		}
	}
	return out
}

func (x bar) draw(b *bytes.Buffer, y int, most float64) {
	emphasis := ""
	if x.class == "ours" {
		emphasis = " strong"
	}
	length := max(1.5, (barsTo-barsFrom)*x.rate/most)
	base := y + barSize - 3
	fmt.Fprintf(b, `<text class="name%s" x="%d" y="%d" text-anchor="end">%s</text>`, emphasis, labels, base, text(x.name))
	fmt.Fprintf(b, `<rect class="%s" x="%d" y="%d" width="%.1f" height="%d" rx="2"/>`, x.class, barsFrom, y, length, barSize)
	fmt.Fprintf(b, `<text class="rate%s" x="%.0f" y="%d">%s</text>`, emphasis, barsFrom+length+8, base, thousands(x.rate))
	fmt.Fprintf(b, `<text class="quiet" x="%d" y="%d" text-anchor="end">%s</text>`+"\n", width-20, base, micros(x.cpu))
}

func legend(b *bytes.Buffer, y int) {
	x := barsFrom
	for _, l := range []struct{ class, text string }{
		{"ours", "this library"}, {"json", "JSON-RPC"}, {"other", "other protocols"}, {"floor", "floor: no ids, no timeouts"},
	} {
		fmt.Fprintf(b, `<rect class="%s" x="%d" y="%d" width="12" height="12" rx="2"/><text class="quiet" x="%d" y="%d">%s</text>`,
			l.class, x, y-10, x+18, y, text(l.text))
		x += 34 + 7*len(l.text)
	}
	b.WriteByte('\n')
}

// description says in words what the picture shows.
func description(bars []bar) string {
	var parts []string
	for _, x := range bars {
		parts = append(parts, x.name+" "+thousands(x.rate))
	}
	return "Calls a second: " + strings.Join(parts, ", ")
}

func thousands(v float64) string {
	switch {
	case v >= 999_500:
		return fmt.Sprintf("%.2fM", v/1e6)
	case v >= 99_500:
		return fmt.Sprintf("%.0fk", v/1e3)
	}
	return fmt.Sprintf("%.1fk", v/1e3)
}

func micros(ns float64) string {
	if ns >= 9_950 {
		return fmt.Sprintf("%.0f µs", ns/1e3)
	}
	return fmt.Sprintf("%.2g µs", ns/1e3)
}

// text escapes s for XML.
func text(s string) string {
	var b strings.Builder
	if err := xml.EscapeText(&b, []byte(s)); err != nil {
		panic(err) // a Builder takes everything
	}
	return b.String()
}
