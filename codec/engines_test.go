package codec

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/internal/frameset"
	"github.com/correlator-go/correlator/internal/vector"
)

// sameVerdict holds the engines to each other without the cost of an error's text,
// so that very many frames can be tried; checkEngines then tells what differs.
func sameVerdict(t *testing.T, frame []byte, o ScanOptions) {
	t.Helper()
	verdict := func(by engine) (Envelope, int, problem) {
		var e Envelope
		var s scanner
		s.e, s.engine, s.trust, s.maxDepth = &e, by, o.TrustBody, depthOf(o.MaxDepth)
		s.plain = s.isPlain(len(frame))
		at, p := s.message(frame, 0, 0)
		return e, at, p
	}
	want, wantAt, wantProblem := verdict(portable)
	for by := range engines {
		if e, at, p := verdict(by); e != want || at != wantAt || p != wantProblem {
			t.Errorf("engine %d: %+v, problem %d at %d, not %+v, %d at %d", by, e, p, at, want, wantProblem, wantAt)
			checkEngines(t, frame, o)
			t.FailNow()
		}
	}
}

// bodyFrame is a frame so long that bodies are validated by masks, whose body holds
// text behind as many spaces as shift it by.
func bodyFrame(shift int, text string) []byte {
	const begin, end = `{"jsonrpc":"2.0","id":1,"result":[`, `]}`
	frame := append([]byte(begin), strings.Repeat(" ", shift)...)
	frame = append(append(frame, text...), end...)
	return append(frame, strings.Repeat(" ", parallelBody)...)
}

// Strings of every length up to four blocks, at every place of a block, with
// something special at their ends and anywhere in them.
func TestEnginesAtEveryAlignment(t *testing.T) {
	specials := []string{
		``, `\n`, `\"`, `\\`, `\\\"`, `\u00e9`, `\u00g9`, `\ud800`, `\q`, `\`, `"`, "é", "中", "😀", "\x1f", "\n", "\xff", "\xe4\xb8", "\xed\xa0\x80", "\xf4\x90\x80\x80",
	}
	const seed = 3
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	step := 1
	if testing.Short() {
		step = 7
	}
	for n := 0; n <= 4*vector.Block; n += step {
		for shift := range vector.Block {
			special := specials[r.IntN(len(specials))]
			at := []int{0, n, r.IntN(n + 1)}[r.IntN(3)]
			letter := []string{"x", "x", "é", "中"}[r.IntN(4)]
			text := strings.Repeat(letter, at) + special + strings.Repeat(letter, n-at)
			trust := ScanOptions{TrustBody: true}
			sameVerdict(t, bodyFrame(shift, `"`+text+`"`), ScanOptions{})
			sameVerdict(t, bodyFrame(shift, `{"`+text+`":"`+text+`"}`), ScanOptions{})
			sameVerdict(t, bodyFrame(shift, `"`+text+`"`), trust)
			// In a short frame, and cut.
			short := []byte(`{"jsonrpc":"2.0","id":"` + text + `","method":"` + text + `","params":{"` + text + `":"` + text + `"}}`)
			sameVerdict(t, short, ScanOptions{})
			sameVerdict(t, short, trust)
			sameVerdict(t, short[:r.IntN(len(short)+1)], ScanOptions{})
			frame := bodyFrame(shift, `"`+text+`",{"a":[1,true,"`)
			sameVerdict(t, frame[:len(frame)-r.IntN(len(frame))], ScanOptions{})
		}
	}
}

// Every JSON text and every broken one, at every place of a block.
func TestEnginesOnEveryText(t *testing.T) {
	for shift := range vector.Block + 1 {
		for _, c := range jsonTexts {
			sameVerdict(t, bodyFrame(shift, c.text), ScanOptions{})
			sameVerdict(t, bodyFrame(shift, c.text+",1"), ScanOptions{})
			sameVerdict(t, bodyFrame(shift, c.text), ScanOptions{TrustBody: true})
		}
	}
}

// What is right is settled by masks alone: the portable engine is for what is wrong.
func TestMasksSettleWhatIsRight(t *testing.T) {
	settled := 0
	for shift := range vector.Block + 1 {
		for _, c := range jsonTexts {
			body := append(append(append([]byte("["), strings.Repeat(" ", shift)...), c.text...), ']')
			s := scanner{e: new(Envelope), engine: parallel, maxDepth: DefaultMaxDepth * 2}
			end, _ := s.mask(body, 0, 0)
			require.Equal(t, isJSON(body), end == len(body), "%q", body)
			if end != undecided {
				settled++
			}
		}
	}
	require.Greater(t, settled, 1000)
}

// What lies behind the frame in its buffer changes nothing, and is not read.
func TestEnginesDoNotLookBehindTheFrame(t *testing.T) {
	for _, frame := range [][]byte{bodyFrame(0, `"`+strings.Repeat("x", 200)), []byte(`{"jsonrpc":"2.0","id":1,"result":"` + strings.Repeat("é", 90))} {
		for cut := range 2*vector.Block + 1 {
			part := frame[:len(frame)-min(cut, len(frame))]
			for slack := range vector.Block + 1 {
				for _, filler := range []string{`"`, `}`, "\xff", `\`} {
					buf := append(append([]byte(nil), part...), strings.Repeat(filler, slack)...)
					var e, want Envelope
					err, wantErr := scanBy(parallel, buf[:len(part)], &e, ScanOptions{}), scanBy(portable, part, &want, ScanOptions{})
					if e != want || err == nil != (wantErr == nil) {
						require.Equal(t, want, e)
						require.Equal(t, wantErr, err)
					}
				}
			}
		}
	}
}

// Frames as they are, indented by spaces and by tabs, and with one byte changed.
func TestEnginesOnWholeFrames(t *testing.T) {
	const seed = 5
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	rounds := 300
	if testing.Short() {
		rounds = 30
	}
	for _, shape := range []frameset.Shape{frameset.Nested, frameset.Text, frameset.Request} {
		for _, frame := range frameset.Make(shape, 7, 3) {
			texts := [][]byte{frame}
			for _, indent := range []string{"  ", "\t"} {
				var pretty bytes.Buffer
				require.NoError(t, json.Indent(&pretty, frame, "", indent))
				texts = append(texts, pretty.Bytes())
			}
			for _, text := range texts {
				var e Envelope
				require.NoError(t, scanBy(parallel, text, &e, ScanOptions{}))
				require.Equal(t, newlines(text), e.Flags.Has(FlagNewline))
				checkEngines(t, text, ScanOptions{})
				for range rounds {
					changed := mutate(r, text)
					sameVerdict(t, changed, ScanOptions{})
					sameVerdict(t, changed, ScanOptions{TrustBody: true, MaxDepth: 2 + r.IntN(6)})
				}
			}
		}
	}
}

func TestScanEngine(t *testing.T) {
	want := "portable"
	if vector.Available() {
		want = "avx2"
	}
	require.Equal(t, want, ScanEngine())
	require.Equal(t, portable, fastest(true))
	require.Equal(t, vector.Available(), fastest(false) == parallel)
}
