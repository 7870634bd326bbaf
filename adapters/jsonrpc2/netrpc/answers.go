package netrpc

import "sync"

// answer is how one call ended.
type answer struct {
	seq    uint64
	method string
	err    error
	value  []byte // the JSON text of the result
}

// largeValue is the capacity, in bytes, from which on a buffer is not used again.
const largeValue = 64 << 10

var pool = sync.Pool{New: func() any { return new(answer) }}

func (a *answer) free() {
	if a == nil {
		return
	}
	value := a.value[:0]
	if cap(value) > largeValue {
		value = nil
	}
	*a = answer{value: value}
	pool.Put(a)
}

// answers are those that the client has not taken yet, in the order in which they
// came. There are at most as many as calls were pending.
type answers struct {
	taken []*answer // by the client's goroutine, which alone uses it
	next  int       // in taken

	mu    sync.Mutex // protects the fields below
	some  sync.Cond
	queue []*answer
	end   error // why no more will come
}

func newAnswers() *answers {
	q := &answers{}
	q.some.L = &q.mu
	return q
}

func (q *answers) put(a *answer) {
	q.mu.Lock()
	q.queue = append(q.queue, a)
	if len(q.queue) == 1 {
		q.some.Signal()
	}
	q.mu.Unlock()
}

// close lets take return err once it has given everything out.
func (q *answers) close(err error) {
	q.mu.Lock()
	q.end = err
	q.some.Signal()
	q.mu.Unlock()
}

// take waits for an answer. One goroutine may call it.
func (q *answers) take() (*answer, error) {
	if q.next == len(q.taken) {
		clear(q.taken)
		q.mu.Lock()
		for len(q.queue) == 0 && q.end == nil {
			q.some.Wait()
		}
		q.taken, q.queue, q.next = q.queue, q.taken[:0], 0
		end := q.end
		q.mu.Unlock()
		if len(q.taken) == 0 {
			return nil, end
		}
	}
	a := q.taken[q.next]
	q.next++
	return a, nil
}
