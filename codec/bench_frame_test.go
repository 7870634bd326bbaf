package codec_test

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"io"
	"strconv"
	"testing"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/internal/frameset"
)

// endless gives a stream again and again, as many bytes a read as asked for.
type endless struct {
	stream []byte
	at     int
}

func (e *endless) Read(p []byte) (int, error) {
	n := copy(p, e.stream[e.at:])
	if e.at += n; e.at == len(e.stream) {
		e.at = 0
	}
	return n, nil
}

func streamOf(b *testing.B, f codec.Framer, frames [][]byte) *endless {
	var stream []byte
	for _, frame := range frames {
		start := len(stream)
		var err error
		if stream, err = f.Seal(append(f.Open(stream), frame...), start); err != nil {
			b.Fatal(err)
		}
	}
	return &endless{stream: stream}
}

var frameSink []byte

// BenchmarkFraming cuts frames of the mix from reads of 64 KiB. Time is per frame.
func BenchmarkFraming(b *testing.B) {
	frames := frameset.Make(frameset.Mix, 1, frameset.Rotation)
	size := int64(frameset.Bytes(frames) / len(frames))
	run := func(name string, f codec.Framer, next func(src io.Reader) func() ([]byte, error)) {
		b.Run(name, func(b *testing.B) {
			read := next(streamOf(b, f, frames))
			b.SetBytes(size)
			b.ReportAllocs()
			for b.Loop() {
				frame, err := read()
				if err != nil {
					b.Fatal(err)
				}
				frameSink = frame
			}
		})
	}
	ours := func(f codec.Framer) func(io.Reader) func() ([]byte, error) {
		return func(src io.Reader) func() ([]byte, error) {
			return codec.NewReader(src, codec.ReaderOptions{Framer: f}).Next
		}
	}
	run("line", codec.LineFramer{}, ours(codec.LineFramer{}))
	run("line-bufio-ReadSlice", codec.LineFramer{}, func(src io.Reader) func() ([]byte, error) {
		r := bufio.NewReaderSize(src, 64<<10)
		return func() ([]byte, error) { return r.ReadSlice('\n') }
	})
	run("line-bufio-ReadBytes", codec.LineFramer{}, func(src io.Reader) func() ([]byte, error) {
		r := bufio.NewReaderSize(src, 64<<10)
		return func() ([]byte, error) { return r.ReadBytes('\n') }
	})
	run("line-json-Decoder", codec.LineFramer{}, func(src io.Reader) func() ([]byte, error) {
		d := json.NewDecoder(src)
		return func() ([]byte, error) {
			var raw json.RawMessage
			err := d.Decode(&raw)
			return raw, err
		}
	})
	run("header", codec.HeaderFramer{}, ours(codec.HeaderFramer{}))
	run("length", codec.LengthFramer{}, ours(codec.LengthFramer{}))
	run("length-bufio-ReadFull", codec.LengthFramer{}, func(src io.Reader) func() ([]byte, error) {
		r := bufio.NewReaderSize(src, 64<<10)
		return func() ([]byte, error) {
			var size [4]byte
			if _, err := io.ReadFull(r, size[:]); err != nil {
				return nil, err
			}
			frame := make([]byte, binary.BigEndian.Uint32(size[:]))
			_, err := io.ReadFull(r, frame)
			return frame, err
		}
	})
}

// BenchmarkSeal ends lines of frames of about so many bytes.
func BenchmarkSeal(b *testing.B) {
	for _, size := range []int{30, 150, 1000, 4200} {
		b.Run(strconv.Itoa(size), func(b *testing.B) {
			message := append(make([]byte, 0, size+1), bytes.Repeat([]byte("x"), size)...)
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				var err error
				if frameSink, err = (codec.LineFramer{}).Seal(message, 0); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
