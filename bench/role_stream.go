package bench

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/valyala/bytebufferpool"

	"github.com/correlator-go/correlator/bench/claim"
	"github.com/correlator-go/correlator/bench/rival"
	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/internal/chunk"
	"github.com/correlator-go/correlator/internal/frameset"
)

// framingRole cuts a stream of mixed frames in every way there is.
func framingRole([]string) (claim.Values, error) {
	const n = 1000
	times := func(f func() error) func() {
		return func() {
			for range n {
				if err := f(); err != nil {
					panic(err)
				}
			}
		}
	}
	ours := codec.NewReader(lines(), codec.ReaderOptions{})
	next := times(func() error { _, err := ours.Next(); return err })
	read := codec.NewReader(lines(), codec.ReaderOptions{})
	var m codec.Message
	retained := codec.NewReader(lines(), codec.ReaderOptions{})
	length := codec.NewReader(headed(), codec.ReaderOptions{Framer: codec.LengthFramer{}})
	slice, whole := bufio.NewReaderSize(lines(), readSize), bufio.NewReaderSize(lines(), readSize)
	decoder, std := json.NewDecoder(lines()), json.NewDecoder(lines())
	full := bufio.NewReaderSize(headed(), readSize)
	var raw json.RawMessage
	var decoded rival.Message
	return claim.Values{
		"line":           each(n, next),
		"line allocs":    allocations(n, next),
		"scanned":        each(n, times(func() error { return read.ReadMessage(&m) })),
		"scanned allocs": allocations(n, times(func() error { return read.ReadMessage(&m) })),
		"retained":       each(n, times(func() error { err := retained.ReadMessage(&m); m.Retain(); m.Release(); return err })),
		"ReadSlice":      each(n, times(func() error { _, err := slice.ReadSlice('\n'); return err })),
		"ReadBytes":      each(n, times(func() error { _, err := whole.ReadBytes('\n'); return err })),
		"json.Decoder":   each(n, times(func() error { return decoder.Decode(&raw) })),
		"decoder decoded": each(n, times(func() error {
			if err := std.Decode(&raw); err != nil {
				return err
			}
			return rival.DecodeStd(raw, &decoded)
		})),
		"length": each(n, times(func() error { _, err := length.Next(); return err })),
		"ReadFull": each(n, times(func() error {
			var header [4]byte
			if _, err := io.ReadFull(full, header[:]); err != nil {
				return err
			}
			_, err := io.ReadFull(full, make([]byte, binary.BigEndian.Uint32(header[:])))
			return err
		})),
	}, nil
}

// poolRole copies frames into pooled buffers and gives them back, on two
// goroutines: into the chunks that readers and retained messages use, and into the
// buffers of others. What copying alone takes is measured too, since it hides the
// pools.
func poolRole([]string) (claim.Values, error) {
	v := claim.Values{}
	small := frameset.Make(frameset.Response, 1, frameset.Rotation)
	some := append(frameset.Make(frameset.Mix, 1, 99), frameset.Make(frameset.Base64, 1, 1)...)
	rand.Shuffle(len(some), func(i, j int) { some[i], some[j] = some[j], some[i] })
	for name, set := range map[string][][]byte{"small": small, "1% 1 MiB": some} {
		largest := 0
		for _, f := range set {
			largest = max(largest, len(f))
		}
		var bbp bytebufferpool.Pool
		std := sync.Pool{New: func() any { return new([]byte) }}
		ways := map[string]func(scratch []byte){
			"copy": func(scratch []byte) {
				for _, f := range set {
					copy(scratch, f)
				}
			},
			"ours": func([]byte) {
				for _, f := range set {
					c := chunk.Get(len(f), math.MaxInt)
					copy(c.B, f)
					c.Release(c.Generation())
				}
			},
			"bytebufferpool": func([]byte) {
				for _, f := range set {
					b := bbp.Get()
					b.B = append(b.B, f...)
					bbp.Put(b)
				}
			},
			"sync.Pool": func([]byte) {
				for _, f := range set {
					b := std.Get().(*[]byte)
					*b = append((*b)[:0], f...)
					std.Put(b)
				}
			},
			// The same for a frame's length with only its first byte written.
			"ours, empty": func([]byte) {
				for _, f := range set {
					c := chunk.Get(len(f), math.MaxInt)
					c.B[0] = f[0]
					c.Release(c.Generation())
				}
			},
			"sync.Pool, empty": func([]byte) {
				for _, f := range set {
					b := std.Get().(*[]byte)
					*b = slices.Grow((*b)[:0], len(f))[:len(f)]
					(*b)[0] = f[0]
					std.Put(b)
				}
			},
		}
		// Differences are read off these, so they take turns. The median turn of each
		// counts: in one that ran on a single processor nothing was contended.
		const turns = 7
		took := map[string][]float64{}
		for range turns {
			for way, op := range ways {
				took[way] = append(took[way], timed(2, codecTime/2, func(_ int, stop *atomic.Bool) (ops int) {
					scratch := make([]byte, largest)
					for ; !stop.Load(); ops += len(set) {
						op(scratch)
					}
					return ops
				}))
			}
		}
		for way, ns := range took {
			slices.Sort(ns)
			v[name+" "+way] = ns[turns/2]
		}
	}
	return v, nil
}

// stopRole scans a frame of 64 MiB over and over while another goroutine stops the
// world, and measures how long the longest stop took. The frame holds what is told:
// objects, or one text.
func stopRole(args []string) (claim.Values, error) {
	name, holds := args[0], args[1]
	shape, between := frameset.Objects, ","
	if holds == "text" {
		shape, between = frameset.Wide, ""
	}
	var frame []byte
	frame = append(frame, `{"jsonrpc":"2.0","id":1,"result":[`...)
	if holds == "text" {
		frame = append(frame, '"')
	}
	for i, f := 0, frameset.Make(shape, 1, 8); len(frame) < 64<<20; i++ {
		if i > 0 {
			frame = append(frame, between...)
		}
		part := f[i%len(f)]
		if holds == "text" { // the middle of one string
			part = part[bytes.Index(part, []byte(`"text":"`))+len(`"text":"`) : bytes.LastIndex(part, []byte(`"}`))]
		}
		frame = append(frame, part...)
	}
	if holds == "text" {
		frame = append(frame, '"')
	}
	frame = append(frame, `]}`...)
	scan := func(o codec.ScanOptions) func() bool {
		return func() bool {
			var e codec.Envelope
			return codec.Scan(frame, &e, o) == nil
		}
	}
	valid := map[string]func() bool{
		ourName: scan(codec.ScanOptions{}), trustingName: scan(codec.ScanOptions{TrustBody: true}),
		"sonic.Valid": func() bool { return rival.ValidSonic(frame) },
	}[name]
	if valid == nil {
		return nil, fmt.Errorf("no codec %q", name)
	}
	var (
		stop atomic.Bool
		bad  atomic.Bool
		wg   sync.WaitGroup
	)
	wg.Go(func() {
		for !stop.Load() {
			if !valid() {
				bad.Store(true)
				return
			}
		}
	})
	longest := time.Duration(0)
	var m runtime.MemStats
	for range 20 {
		time.Sleep(7 * time.Millisecond)
		began := time.Now()
		runtime.ReadMemStats(&m) // stops the world
		longest = max(longest, time.Since(began))
	}
	stop.Store(true)
	wg.Wait()
	if bad.Load() {
		return nil, fmt.Errorf("%s refuses the frame", name)
	}
	return claim.Values{"ns": float64(longest)}, nil
}
