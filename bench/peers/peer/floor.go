package peer

import (
	"bytes"
	"io"

	"github.com/correlator-go/correlator/bench/peers/load"
	"github.com/correlator-go/correlator/bench/peers/server"
	"github.com/correlator-go/correlator/bench/rival"
	"github.com/correlator-go/correlator/codec"
)

// The floors: callers that are matched by order alone and woken one by one, and
// windows of requests that nobody waits for.
const (
	InOrder = "floor-in-order"
	Windows = "floor-windows"
)

var floors = []Peer{
	{Name: InOrder, Class: Floor, Server: server.Lines, Timeouts: "none", Open: openInOrder},
	{Name: Windows, Class: Floor, Server: server.Lines, Timeouts: "none", Open: openWindows},
}

// frame is a request that is sent again and again: floors read no ids.
func (w *Work) frame() (request, answer []byte) {
	id := codec.IntID(1 << 40)
	request = append(codec.AppendRequest(nil, id, w.Name, w.quoted()), '\n')
	return request, codec.AppendResult(nil, id.Append(nil), w.quoted())
}

func openInOrder(link Link) (Client, error) {
	stream, err := link.Dial()
	if err != nil {
		return Client{}, err
	}
	f := rival.NewFloor(stream, link.Callers)
	return Client{
		Caller: func(w Work) (func() error, error) {
			c := rival.NewFloorCaller()
			request, answer := w.frame()
			return func() error {
				if err := f.Call(c, request); err != nil {
					return err
				}
				return w.check(c.Answer, answer)
			}, nil
		},
		Close: f.Close,
	}, nil
}

// openWindows writes a window of requests in one call and reads until all are
// answered.
func openWindows(link Link) (Client, error) {
	stream, err := link.Dial()
	if err != nil {
		return Client{}, err
	}
	in := make([]byte, 256<<10)
	return Client{
		Caller: func(w Work) (func() error, error) {
			request, answer := w.frame()
			return func() error {
				if _, err := stream.Write(request); err != nil {
					return err
				}
				if _, err := io.ReadFull(stream, in[:len(answer)+1]); err != nil {
					return err
				}
				return w.check(in[:len(answer)], answer)
			}, nil
		},
		Pump: func(w Work, inFlight int, l *load.Loop) error {
			request, _ := w.frame()
			window := bytes.Repeat(request, inFlight)
			failed := make(chan error, 1)
			for !l.Stopped() {
				go func() { // the server answers before it has read all
					_, err := stream.Write(window)
					failed <- err
				}()
				for lines := 0; lines < inFlight; {
					n, err := stream.Read(in)
					if err != nil {
						return err
					}
					lines += bytes.Count(in[:n], []byte{'\n'})
				}
				if err := <-failed; err != nil {
					return err
				}
				l.Done(0, int64(inFlight))
			}
			return nil
		},
		Close: stream.Close,
	}, nil
}
