package echo

import (
	"container/heap"
	"strconv"
	"time"

	"github.com/correlator-go/correlator/codec"
)

// write is the goroutine that sends what is due. It alone writes to rwc.
func (h *held) write() {
	defer close(h.done)
	var (
		window []item        // answers that Shape.Reorder holds
		since  time.Duration // when the first of them came in
		out    []byte
		n      Counts
		timer  = time.NewTimer(time.Hour)
	)
	defer timer.Stop()
	for {
		now := time.Since(h.s.start)
		due, next, ended := h.collect(now)
		out = out[:0]
		for _, i := range due {
			if i.kind == itemProgress || i.kind == itemControl || h.s.o.Shape.Reorder <= 1 {
				out = h.emit(out, i, &n)
				continue
			}
			if len(window) == 0 {
				since = now
			}
			if window = append(window, i); len(window) >= h.s.o.Shape.Reorder {
				out, window = h.emitShuffled(out, window, &n)
			}
		}
		if len(window) > 0 && (ended || now-since >= reorderWait) {
			out, window = h.emitShuffled(out, window, &n)
		}
		answers := n.Answers
		err := h.send(out, &n)
		h.s.o.Counters.held.Add(-answers)
		if err != nil || ended {
			h.abandon(err != nil, int64(len(window)))
			return
		}
		if len(window) > 0 && (next == 0 || since+reorderWait < next) {
			next = since + reorderWait
		}
		if next == 0 {
			<-h.wake
			continue
		}
		timer.Reset(max(next-time.Since(h.s.start), 0))
		select {
		case <-h.wake:
		case <-timer.C:
		}
	}
}

// collect takes what is due and reports when the next item will be; 0 is never.
func (h *held) collect(now time.Duration) (due []item, next time.Duration, ended bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for len(h.queue) > 0 && h.queue[0].due <= now {
		i := heap.Pop(&h.queue).(item)
		due = append(due, i)
		if i.kind == itemProgress {
			if i.step, i.due = i.step+1, i.due+h.s.o.Shape.ProgressEvery; i.due < i.until {
				h.push(i)
			}
		}
	}
	if len(h.queue) > 0 {
		next = h.queue[0].due
	}
	return due, next, h.ended
}

func (h *held) emit(out []byte, i item, n *Counts) []byte {
	switch i.kind {
	case itemAnswer, itemDuplicate:
		n.Answers++
	case itemProgress:
		frame, err := h.s.appendProgress(out, i)
		if err != nil {
			return out // a token too long to frame: no progress is owed
		}
		n.Progress++
		return frame
	}
	return append(out, i.frame...)
}

func (h *held) emitShuffled(out []byte, window []item, n *Counts) ([]byte, []item) {
	h.shuffle.Shuffle(len(window), func(i, j int) { window[i], window[j] = window[j], window[i] })
	for _, i := range window {
		out = h.emit(out, i, n)
	}
	clear(window)
	return out, window[:0]
}

func (s *server) appendProgress(dst []byte, i item) ([]byte, error) {
	params := append([]byte(`{"progressToken":`), i.token...)
	params = append(params, `,"progress":`...)
	params = strconv.AppendInt(params, i.step+1, 10)
	params = append(params, '}')
	start := len(dst)
	return s.o.Framer.Seal(codec.AppendNotification(s.o.Framer.Open(dst), "notifications/progress", params), start)
}

// send publishes the counts and writes out.
func (h *held) send(out []byte, n *Counts) error {
	if len(out) == 0 {
		return nil
	}
	n.Writes++
	n.BytesOut += int64(len(out))
	h.s.o.Counters.add(n)
	_, err := h.s.rwc.Write(out)
	return err
}

// abandon counts what will never be sent. After a failed write it also closes
// the connection, so that the reader ends too.
func (h *held) abandon(failed bool, inWindow int64) {
	if failed {
		_ = h.s.rwc.Close()
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	unsent := inWindow
	for _, i := range h.queue {
		if i.kind == itemAnswer || i.kind == itemDuplicate {
			unsent++
		}
	}
	h.queue, h.gone = nil, true
	h.s.o.Counters.held.Add(-unsent)
	h.s.o.Counters.unsent.Add(unsent)
}
