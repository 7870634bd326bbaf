package codec_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/internal/invariants"
)

// sized is a response with the given id of exactly n bytes.
func sized(id, n int) string {
	head := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":"`, id)
	return head + strings.Repeat("x", n-len(head)-2) + `"}`
}

func messages(t *testing.T, frames ...string) (*codec.Reader, func() codec.Message) {
	r := codec.NewReader(strings.NewReader(strings.Join(frames, "\n")+"\n"), codec.ReaderOptions{})
	return r, func() codec.Message {
		var m codec.Message
		require.NoError(t, r.ReadMessage(&m))
		return m
	}
}

func TestRetainOutlivesTheReader(t *testing.T) {
	var frames []string
	for i := range 2000 {
		frames = append(frames, sized(i, 60+i*37%2500))
	}
	_, next := messages(t, frames...)
	var kept []codec.Message
	for range frames {
		m := next()
		m.Retain()
		kept = append(kept, m)
	}
	for i := range kept {
		require.Equal(t, frames[i], string(kept[i].Frame()))
		require.Equal(t, codec.IntID(int64(i)), kept[i].ID())
	}
	var released sync.WaitGroup
	for worker := range 4 { // each may be released by whom it was given to
		released.Go(func() {
			for i := worker; i < len(kept); i += 4 {
				kept[i].Release()
			}
		})
	}
	released.Wait()
}

func TestSmallFramesAreCopiedLargeOnesShared(t *testing.T) {
	_, next := messages(t, sized(1, 511), sized(2, 512), sized(3, 40))
	small, large := next(), codec.Message{}
	borrowed := small.Frame()
	small.Retain()
	require.NotSame(t, &borrowed[0], &small.Frame()[0], "511 bytes of 4 KiB")
	large = next()
	borrowed = large.Frame()
	large.Retain()
	require.Same(t, &borrowed[0], &large.Frame()[0], "512 bytes of 4 KiB")
	small.Release()
	large.Release()
}

func TestReleaseOncePerRetain(t *testing.T) {
	for _, size := range []int{100, 1000} {
		_, next := messages(t, sized(1, size))
		m := next()
		require.Panics(t, func() { m.Release() }, "only borrowed")
		m.Retain()
		other := m
		other.Retain()
		m.Release()
		require.Empty(t, m.Frame())
		require.Panics(t, func() { m.Release() }, "released already")
		require.Equal(t, sized(1, size), string(other.Frame()), "the copy has its own lease")
		other.Release()

		_, next = messages(t, sized(1, size))
		m = next()
		m.Retain()
		m.Retain()
		m.Release()
		require.Equal(t, sized(1, size), string(m.Frame()))
		m.Release()
		require.Panics(t, func() { m.Release() })
	}
}

func TestReleaseThroughACopyPanics(t *testing.T) {
	m, err := codec.Parse([]byte(one), codec.ScanOptions{})
	require.NoError(t, err)
	m.Retain()
	twin := m
	m.Release()
	require.Panics(t, func() { twin.Release() }, "the copied frame was alone in its chunk")
	require.Panics(t, func() { twin.Retain() }, "nor can it be revived")

	if invariants.Enabled { // the others keep the chunk alive, yet it is seen
		_, next := messages(t, sized(1, 1000), sized(2, 1000))
		first := next()
		first.Retain()
		second := next()
		second.Retain()
		twin = first
		first.Release()
		require.Panics(t, func() { twin.Release() })
		second.Release()
	}
}

func TestParsedMessageIsCopiedWhenRetained(t *testing.T) {
	frame := []byte(one)
	m, err := codec.Parse(frame, codec.ScanOptions{})
	require.NoError(t, err)
	require.Same(t, &frame[0], &m.Frame()[0])
	m.Retain()
	clear(frame)
	require.Equal(t, one, string(m.Frame()))
	require.Equal(t, `{}`, string(m.Result()))
	m.Release()
	require.Panics(t, func() { (&codec.Message{}).Retain() }, "nothing to retain")
}

func TestDetach(t *testing.T) {
	frame := []byte(one)
	m, err := codec.Parse(frame, codec.ScanOptions{})
	require.NoError(t, err)
	d := m.Detach()
	clear(frame)
	require.Equal(t, one, string(d.Frame()))
	require.Equal(t, len(one), cap(d.Frame()))
	d.Retain()
	d.Release()
	require.Equal(t, one, string(d.Frame()), "the collector's, not the pool's")
	require.Panics(t, func() { d.Release() })
}

func TestFrameCannotBeAppendedTo(t *testing.T) {
	r, next := messages(t, one, two)
	m := next()
	_ = append(m.Frame(), "overwritten"...)
	m = next()
	require.Equal(t, two, string(m.Frame()))
	_, err := r.Next()
	require.Error(t, err)
}
