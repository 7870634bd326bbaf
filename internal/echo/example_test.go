package echo_test

import (
	"bufio"
	"fmt"
	"io"

	"github.com/correlator-go/correlator/internal/echo"
)

func ExampleServe() {
	client, server := echo.Pipe()
	go echo.Serve(server, echo.Options{})

	io.WriteString(client, `{"jsonrpc":"2.0","id":7,"method":"any","params":{"text":"hello"}}`+"\n")
	line, _ := bufio.NewReader(client).ReadString('\n')
	fmt.Print(line)
	client.Close()
	// Output: {"jsonrpc":"2.0","id":7,"result":{"text":"hello"}}
}
