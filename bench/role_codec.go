package bench

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"runtime"
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/correlator-go/correlator/bench/claim"
	"github.com/correlator-go/correlator/bench/rival"
	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/internal/frameset"
)

// The names of the codecs.
const (
	ourName          = "codec"
	portableName     = "codec, portable"
	trustingName     = "codec, trusting"
	stdName          = "encoding/json"
	reusingName      = "encoding/json, reused buffers"
	sonicStdName     = "sonic ConfigStd"
	sonicDefaultName = "sonic ConfigDefault"
	sonicFastestName = "sonic ConfigFastest"
	indexByteName    = "bytes.IndexByte"
	validUTF8Name    = "utf8.Valid"
)

const codecTime = 60 * time.Millisecond

// each measures op, which works through a set of so many frames, in nanoseconds a
// frame.
func each(frames int, op func()) float64 { return eachFor(codecTime, frames, op) }

// least is the best of some short measurements of op: for claims in nanoseconds, which
// have no rival to suffer from a busy machine too.
func least(frames int, op func()) float64 {
	const turns = 10
	best := math.Inf(1)
	for range turns {
		best = min(best, eachFor(codecTime/turns, frames, op))
	}
	return best
}

func eachFor(d time.Duration, frames int, op func()) float64 {
	op() // JIT compilers, pools
	return timed(1, d, func(_ int, stop *atomic.Bool) (ops int) {
		for !stop.Load() {
			op()
			ops += frames
		}
		return ops
	})
}

// allocations counts the allocations of op a frame. The runtime allocates now and
// then too, so the least of some counts is taken.
func allocations(frames int, op func()) float64 {
	const runs, counts = 20, 3
	op()
	fewest := math.Inf(1)
	for range counts {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range runs {
			op()
		}
		runtime.ReadMemStats(&after)
		fewest = min(fewest, float64(after.Mallocs-before.Mallocs)/float64(runs*frames))
	}
	return fewest
}

// decoding returns a function that decodes a whole set; nil for an unknown name.
func decoding(name string, frames [][]byte) func() {
	all := func(decode func(frame []byte) error) func() {
		return func() {
			for _, f := range frames {
				if err := decode(f); err != nil {
					panic(err)
				}
			}
		}
	}
	scan := func(o codec.ScanOptions) func() {
		return func() { // written out: a call through a function value shows in a frame of 40 bytes
			var e codec.Envelope
			for _, f := range frames {
				if err := codec.Scan(f, &e, o); err != nil {
					panic(err)
				}
			}
		}
	}
	var decode rival.Decoder
	switch name {
	case ourName:
		return scan(codec.ScanOptions{})
	case portableName:
		return scan(codec.ScanOptions{Portable: true})
	case trustingName:
		return scan(codec.ScanOptions{TrustBody: true})
	case indexByteName: // how fast bytes can be looked at
		return all(func(frame []byte) error {
			if bytes.IndexByte(frame, 0) >= 0 {
				return errors.New("a zero in a frame")
			}
			return nil
		})
	case validUTF8Name:
		return all(func(frame []byte) error {
			if !utf8.Valid(frame) {
				return errors.New("a frame is not UTF-8")
			}
			return nil
		})
	case stdName:
		decode = rival.DecodeStd
	case reusingName:
		decode = rival.ReusingStd()
	case sonicStdName:
		decode = rival.SonicStd()
	case sonicDefaultName:
		decode = rival.SonicDefault()
	case sonicFastestName:
		decode = rival.SonicFastest()
	}
	if decode == nil {
		return nil
	}
	var m rival.Message
	return all(func(frame []byte) error { return decode(frame, &m) })
}

// decodeRole decodes rotating sets of all shapes with one codec.
func decodeRole(args []string) (claim.Values, error) {
	v := claim.Values{}
	for _, s := range shapes {
		set := frameset.Make(s.shape, 1, s.frames)
		op := decoding(args[0], set)
		if op == nil {
			return nil, fmt.Errorf("no codec %q here", args[0])
		}
		v[s.letter] = each(len(set), op)
		if strings.HasPrefix(args[0], ourName) { // nothing is claimed of the others, and it takes them long
			v[s.letter+" allocs"] = allocations(len(set), op)
		}
	}
	return v, nil
}

// encodeRole encodes requests around params of 192 bytes and of 1 MiB.
func encodeRole([]string) (claim.Values, error) {
	small := make([][]byte, frameset.Rotation)
	for i := range small {
		small[i] = fmt.Appendf(nil, `{"name":"search","arguments":{"query":"q%0150d"}}`, i)
	}
	large := [][]byte{frameset.Make(frameset.Base64, 1, 1)[0]}
	var buf []byte
	var id int64
	ours := func(set [][]byte) func() {
		return func() {
			for _, p := range set {
				id++
				buf = codec.AppendRequest(buf[:0], codec.IntID(id), method, p)
			}
		}
	}
	with := func(encode rival.Encoder) func() {
		return func() {
			for _, p := range small {
				id++
				b, err := encode(id, method, p)
				if err != nil {
					panic(err)
				}
				buf = b
			}
		}
	}
	// memcpy to where params land in a frame: alignment counts.
	target := make([]byte, len(large[0])+64)
	place := target[len(codec.AppendRequest(nil, codec.IntID(1<<20), method, []byte{}))-1:]
	return claim.Values{
		ourName:            each(len(small), ours(small)),
		"allocs":           allocations(len(small), ours(small)),
		stdName:            each(len(small), with(rival.EncodeStd)),
		sonicFastestName:   each(len(small), with(rival.EncodeSonic)),
		ourName + " 1 MiB": each(1, ours(large)),
		"memcpy 1 MiB":     each(1, func() { copy(place, large[0]) }),
	}, nil
}

// spliceRole gives frames another id.
func spliceRole([]string) (claim.Values, error) {
	v := claim.Values{}
	for _, s := range []struct {
		name  string
		shape frameset.Shape
		n     int
	}{{"A", frameset.Response, frameset.Rotation}, {"B", frameset.Request, frameset.Rotation},
		{"C", frameset.Text, frameset.Rotation}, {"D", frameset.Nested, frameset.Rotation}, {"1 MiB", frameset.Prose, 8}} {
		set := frameset.Make(s.shape, 1, s.n)
		v[s.name+" in place"] = spliceInPlace(set)
		var buf, id []byte
		n := int64(1 << 40)
		v[s.name] = each(len(set), func() {
			var e codec.Envelope
			for _, f := range set {
				if err := codec.Scan(f, &e, codec.ScanOptions{}); err != nil {
					panic(err)
				}
				n++
				id = codec.IntID(n).Append(id[:0])
				buf = codec.AppendSplice(buf[:0], f, codec.Edit{Span: e.RawID, Text: id})
			}
		})
		v[s.name+" "+stdName] = each(len(set), func() {
			for _, f := range set {
				n++
				b, err := rival.RewriteStd(f, n)
				if err != nil {
					panic(err)
				}
				buf = b
			}
		})
	}
	return v, nil
}

// spliceInPlace gives the ids of retained messages more and fewer digits in turn.
func spliceInPlace(set [][]byte) float64 {
	messages := make([]codec.Message, len(set))
	for i, f := range set {
		messages[i] = must(codec.Parse(f, codec.ScanOptions{}))
		messages[i].Retain()
	}
	ids := [2][]byte{[]byte("123456789"), []byte("98765432101234")}
	turn := 0
	return least(len(set), func() {
		turn++
		for i := range messages {
			m := &messages[i]
			if !codec.SpliceInPlace(m, m.Envelope.RawID, ids[turn&1]) {
				panic("bench: no room to splice in place")
			}
		}
	})
}
