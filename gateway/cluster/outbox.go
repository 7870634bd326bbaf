package cluster

import (
	"sync"

	"github.com/nats-io/nats.go"
)

// outbox hands messages to NATS in order, on a goroutine of its own: to publish may wait
// for the network, and who sends must not.
type outbox struct {
	nc   *nats.Conn
	wake chan struct{} // holds one while there is something to do
	done chan struct{}

	mu     sync.Mutex // guards the fields below
	queue  []letter
	closed bool
}

// letter is one message for NATS. data belongs to the outbox.
type letter struct {
	pipe           *pipe // whose bytes are counted; nil is nobody's
	subject, reply string
	data           []byte
}

func newOutbox(nc *nats.Conn) *outbox {
	o := &outbox{nc: nc, wake: make(chan struct{}, 1), done: make(chan struct{})}
	go o.run()
	return o
}

func (o *outbox) put(l ...letter) {
	o.mu.Lock()
	if !o.closed {
		o.queue = append(o.queue, l...)
	}
	o.mu.Unlock()
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

func (o *outbox) run() {
	defer close(o.done)
	var batch []letter
	for range o.wake {
		o.mu.Lock()
		batch, o.queue = o.queue, batch[:0]
		closed := o.closed
		o.mu.Unlock()
		for i := range batch {
			l := &batch[i]
			err := o.publish(l)
			if l.pipe != nil {
				l.pipe.queued.Add(-int64(len(l.data)))
				if err != nil {
					l.pipe.end(lost(l.pipe.peer, "NATS does not take messages for it: "+err.Error()), false)
				}
			}
			*l = letter{}
		}
		if closed {
			return
		}
	}
}

func (o *outbox) publish(l *letter) error {
	if l.reply == "" {
		return o.nc.Publish(l.subject, l.data)
	}
	return o.nc.PublishRequest(l.subject, l.reply, l.data)
}

// close sends what is left and ends the goroutine.
func (o *outbox) close() {
	o.mu.Lock()
	o.closed = true
	o.mu.Unlock()
	select {
	case o.wake <- struct{}{}:
	default:
	}
	<-o.done
	_ = o.nc.FlushTimeout(reconnectWait)
}
