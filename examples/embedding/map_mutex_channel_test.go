package embedding_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"github.com/correlator-go/correlator/conn"
)

// A naive is what one writes first: a map of channels under a mutex.
type naive struct {
	stream io.ReadWriter

	mu      sync.Mutex
	last    int64
	pending map[int64]chan naiveAnswer
}

type naiveAnswer struct {
	ID     int64           `json:"id"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Message string `json:"message"`
	} `json:"error"`
}

func (c *naive) Call(ctx context.Context, method string, params any) (json.RawMessage, error) {
	answered := make(chan naiveAnswer, 1)
	c.mu.Lock()
	c.last++
	id := c.last
	c.pending[id] = answered
	text, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": id, "method": method, "params": params})
	if err == nil {
		_, err = c.stream.Write(append(text, '\n')) // one write a call, and a slow peer stops all of them here
	}
	c.mu.Unlock()
	if err != nil {
		return nil, err // the entry stays
	}
	select {
	case a := <-answered:
		if a.Error != nil {
			return nil, errors.New(a.Error.Message)
		}
		return a.Result, nil
	case <-ctx.Done():
		c.mu.Lock()
		delete(c.pending, id)
		c.mu.Unlock()
		return nil, ctx.Err() // the peer works on
	}
}

func (c *naive) read() {
	answers := json.NewDecoder(c.stream)
	for {
		var a naiveAnswer
		if answers.Decode(&a) != nil {
			return // one bad line, or the end: whoever waits, waits on
		}
		c.mu.Lock()
		if answered, ok := c.pending[a.ID]; ok {
			delete(c.pending, a.ID)
			answered <- a
		}
		c.mu.Unlock()
	}
}

func sumNaively(ctx context.Context, c *naive) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Second) // a timer, five allocations
	defer cancel()
	result, err := c.Call(ctx, "add", []int{40, 2})
	if err != nil {
		return 0, err
	}
	var sum int
	err = json.Unmarshal(result, &sum)
	return sum, err
}

func sum(ctx context.Context, c *conn.Conn) (int, error) {
	return conn.Call[int](ctx, c, "add", []int{40, 2}, conn.CallOptions{Timeout: time.Second})
}

// The map, the mutex and the channels on one side, a connection on the other, both
// before the same peer.
func Example_mapMutexChannel() {
	peer := func() net.Conn {
		near, far := net.Pipe()
		_, err := conn.New(far, conn.Options{Handler: conn.HandlerFunc(func(_ context.Context, r *conn.Inbound) {
			var terms []int
			total := 0
			if json.Unmarshal(r.Params(), &terms) == nil {
				for _, n := range terms {
					total += n
				}
			}
			_ = r.Reply(fmt.Append(nil, total))
		})})
		if err != nil {
			panic(err)
		}
		return near
	}
	ctx := context.Background()

	stream := peer()
	before := &naive{stream: stream, pending: map[int64]chan naiveAnswer{}}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		before.read()
	}()
	fmt.Println(sumNaively(ctx, before))
	_ = stream.Close()
	<-ended

	after, err := conn.New(peer(), conn.Options{})
	if err != nil {
		panic(err)
	}
	fmt.Println(sum(ctx, after))
	_ = after.Close()
	<-after.Done()
	// Output:
	// 42 <nil>
	// 42 <nil>
}
