package status_test

import (
	"fmt"
	"net/http/httptest"

	"github.com/correlator-go/correlator/gateway"
	"github.com/correlator-go/correlator/gateway/internal/fake"
	"github.com/correlator-go/correlator/gateway/status"
)

func ExampleBoard() {
	board, err := status.New(status.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	g, err := gateway.New(gateway.Options{
		Upstreams: []gateway.Upstream{{Name: "tools", Opener: &fake.Server{}, Isolation: gateway.Shared}},
		Observer:  board.Observe,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer g.Close()
	board.Watch(g) // board is now an http.Handler: the page, /metrics, /healthz, /readyz
	w := httptest.NewRecorder()
	board.ServeHTTP(w, httptest.NewRequest("GET", "/readyz", nil))
	fmt.Print(w.Code, " ", w.Body)
	fmt.Println(board.Snapshot().Upstreams[0].State)
	// Output:
	// 200 ready
	// unused
}
