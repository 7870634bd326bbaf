package codec_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/codec"
)

// fuzzChunking holds a framing to this: however a stream is split into reads, the
// same frames and errors come out of it. Sizes and maximum are part of the input.
func fuzzChunking(f *testing.F, framer codec.Framer) {
	for _, c := range framingCases() {
		if c.framer == framer {
			f.Add(c.stream, []byte{3, 1, 7}, uint16(64))
			f.Add(strings.Repeat(c.stream, 3), []byte{200, 255}, uint16(5000))
		}
	}
	f.Fuzz(func(t *testing.T, stream string, sizes []byte, most uint16) {
		o := codec.ReaderOptions{Framer: framer, MaxFrame: int(most), ChunkSize: 512}
		if most == 0 {
			o.MaxFrame = 1
		}
		want := outcomes(&pieces{stream: stream, sizes: []int{1 << 30}}, o)
		all := splits(len(stream), uint64(most))
		all = append(all, &pieces{sizes: []int{1}})
		for _, n := range sizes {
			all[len(all)-1].sizes = append(all[len(all)-1].sizes, int(n))
		}
		for i, src := range all {
			src.stream = stream
			require.Equal(t, want, outcomes(src, o), "split %d", i)
			o.ChunkSize ^= 512 ^ 4096
		}
		// What was cut goes out and comes back, one frame for one message.
		var sealed []byte
		var frames []string
		for _, frame := range want {
			if frame, ok := strings.CutPrefix(frame, "frame "); ok && !strings.ContainsAny(frame, "\r\n") {
				start := len(sealed)
				var err error
				sealed, err = framer.Seal(append(framer.Open(sealed), frame...), start)
				require.NoError(t, err)
				frames = append(frames, "frame "+frame)
			}
		}
		if !slices.ContainsFunc(frames, hasMarkOrBlank) {
			o.MaxFrame = max(o.MaxFrame, 1<<16)
			require.Equal(t, append(frames, "EOF"), outcomes(&pieces{stream: string(sealed), sizes: []int{1 << 30}}, o))
		}
	})
}

// hasMarkOrBlank: what a reader drops at the beginning of a frame may stand there
// twice, so that what is left is no message that a peer would send.
func hasMarkOrBlank(frame string) bool {
	frame = strings.TrimPrefix(frame, "frame ")
	return strings.HasPrefix(frame, bom) || strings.Trim(frame, " \t") == ""
}

// outcomes is events, without what a fatal error happened to have read beyond.
func outcomes(src *pieces, o codec.ReaderOptions) []string {
	var out []string
	for r := codec.NewReader(src, o); ; {
		if len(out)%2 == 1 {
			r.Buffered() // must change nothing
		}
		frame, err := r.Next()
		switch bad, _ := errors.AsType[*codec.FrameError](err); {
		case err == nil:
			out = append(out, "frame "+string(frame))
			continue
		case bad != nil && bad.Fatal:
			out = append(out, bad.Error())
		default:
			out = append(out, describe(err))
		}
		if !codec.Recoverable(err) {
			return out
		}
	}
}

func FuzzChunkingLines(f *testing.F)   { fuzzChunking(f, codec.LineFramer{}) }
func FuzzChunkingHeaders(f *testing.F) { fuzzChunking(f, codec.HeaderFramer{MaxHeader: 80}) }
func FuzzChunkingLength(f *testing.F)  { fuzzChunking(f, codec.LengthFramer{}) }
