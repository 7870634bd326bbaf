package drive_test

import (
	"context"
	"fmt"

	"github.com/correlator-go/correlator/conn"
	"github.com/correlator-go/correlator/internal/echo"
	"github.com/correlator-go/correlator/internal/load/drive"
	"github.com/correlator-go/correlator/internal/load/plan"
)

func ExampleRun() {
	client, server := echo.Pipe()
	go echo.Serve(server, echo.Options{})
	link, _ := conn.New(client, conn.Options{})
	defer link.Close()

	result, err := drive.Run(context.Background(), []*conn.Conn{link}, drive.Config{
		InFlight: 32, Requests: 1000, Method: "echo", Payload: plan.NewPayload(100, 100, 1),
	})
	fmt.Println(err, result.Sent, result.Ends().OK, len(drive.Audit(result, nil, false)))
	// Output: <nil> 1000 1000 0
}
