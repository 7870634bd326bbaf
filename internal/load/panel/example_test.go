package panel_test

import (
	"context"
	"fmt"
	"net"
	"net/http"

	"github.com/correlator-go/correlator/internal/load/drive"
	"github.com/correlator-go/correlator/internal/load/panel"
	"github.com/correlator-go/correlator/internal/load/report"
)

func ExamplePanel() {
	live := report.NewLive(report.Config{Method: "echo", Target: "pipe:echo"}, "")
	p := panel.New(live, new(drive.Control))
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Println(err)
		return
	}
	go p.Serve(l)
	for _, address := range []string{p.Address(l.Addr()), "http://" + l.Addr().String()} {
		answer, err := http.Get(address)
		if err != nil {
			fmt.Println(err)
			return
		}
		answer.Body.Close()
		fmt.Println(answer.Status)
	}
	live.End(&report.Document{})
	fmt.Println(p.Close(context.Background()))
	// Output:
	// 200 OK
	// 403 Forbidden
	// <nil>
}
