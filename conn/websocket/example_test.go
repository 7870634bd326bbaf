package websocket_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/correlator-go/correlator/conn"
	"github.com/correlator-go/correlator/conn/websocket"
)

func Example() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s, err := websocket.Accept(w, r, websocket.AcceptOptions{})
		if err != nil {
			return // the client was told
		}
		c, err := s.Conn(conn.Options{Handler: conn.HandlerFunc(func(_ context.Context, r *conn.Inbound) {
			_ = r.Reply(r.Params())
		})})
		if err != nil {
			return
		}
		<-c.Done()
	}))
	defer server.Close()

	ctx := context.Background()
	s, err := websocket.Dial(ctx, "ws"+server.URL[len("http"):], websocket.DialOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	c, err := s.Conn(conn.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	result, err := c.Call(ctx, "echo", []byte(`{"text":"hello"}`), conn.CallOptions{})
	fmt.Println(string(result), err)
	_ = c.Close()
	<-c.Done()
	// Output: {"text":"hello"} <nil>
}
