package duplex_test

import (
	"bufio"
	"fmt"
	"net"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/gateway/duplex"
	"github.com/correlator-go/correlator/gateway/link"
)

// mirror sends back what comes in.
type mirror struct{ to *duplex.Link }

func (m *mirror) Receive(b *link.Burst, msg *codec.Message) error {
	return m.to.Send(&link.Frame{Bytes: msg.Frame(), Class: link.Note}, b)
}
func (m *mirror) Refused(*link.Burst, *codec.Message, error) {}
func (m *mirror) Gone(err error)                             { fmt.Println("gone:", err != nil) }

func Example() {
	near, far := net.Pipe()
	l, err := duplex.Over(near, duplex.Options{}, func(l *duplex.Link) link.Receiver { return &mirror{l} })
	if err != nil {
		fmt.Println(err)
		return
	}
	go func() { _, _ = far.Write([]byte("{\"jsonrpc\":\"2.0\", \"method\":\"hello\"}\n")) }()
	line, _ := bufio.NewReader(far).ReadString('\n')
	fmt.Print(line)
	_ = far.Close()
	<-l.Done()
	// Output:
	// {"jsonrpc":"2.0", "method":"hello"}
	// gone: true
}
