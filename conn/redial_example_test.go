package conn_test

import (
	"context"
	"fmt"
	"net"

	"github.com/correlator-go/correlator/conn"
)

// A Redialer dials when it is first used, shakes hands, and does both again
// whenever the connection is lost.
func ExampleRedialer() {
	var peer *conn.Conn
	r, err := conn.NewRedialer(conn.RedialOptions{
		Dial: func(context.Context) (*conn.Conn, error) {
			a, b := net.Pipe()
			var err error
			if peer, err = conn.New(b, conn.Options{Handler: echoing}); err != nil {
				return nil, err
			}
			return conn.New(a, conn.Options{})
		},
		OnConnect: func(ctx context.Context, c *conn.Conn) error {
			_, err := c.Call(ctx, "hello", nil, conn.CallOptions{})
			fmt.Println("connected:", err)
			return err
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for i := range 2 {
		got, err := conn.Call[string](context.Background(), r, "echo", fmt.Sprint("message ", i), conn.CallOptions{})
		fmt.Println(got, err)
		gone := r.Conn()
		_ = peer.Close()
		<-gone.Done()
	}
	_ = r.Close()
	<-r.Done()
	// Output:
	// connected: <nil>
	// message 0 <nil>
	// connected: <nil>
	// message 1 <nil>
}
