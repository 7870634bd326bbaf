package cluster_test

import (
	"context"
	"fmt"

	"github.com/correlator-go/correlator/gateway/cluster"
	"github.com/correlator-go/correlator/gateway/cluster/embedded"
	"github.com/correlator-go/correlator/gateway/internal/fake"
	"github.com/correlator-go/correlator/gateway/link"
)

// Two nodes, which are two machines elsewhere: whoever asks first owns the server, and
// the other one's way leads there.
func Example() {
	nats, err := embedded.Start(embedded.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = nats.Close() }()
	server := &fake.Server{} // upstream.Child, where it is a process
	for _, name := range []string{"first", "second"} {
		n, err := cluster.Join(context.Background(), cluster.Options{Server: nats, Node: name})
		if err != nil {
			fmt.Println(err)
			return
		}
		defer func() { _ = n.Close() }()
		way, err := n.Opener("files", server, cluster.WayOptions{}).Open(context.Background(), newRecorder(), link.Key{})
		if err != nil {
			fmt.Println(err)
			return
		}
		defer way.End(nil)
		fmt.Printf("%s owns %d, opened: %d\n", n.Name(), len(n.Owned()), server.Opened())
	}
	// Output:
	// first owns 1, opened: 1
	// second owns 0, opened: 1
}
