//go:build unix

package guard_test

import (
	"context"
	"fmt"

	"github.com/correlator-go/correlator/conn"
	"github.com/correlator-go/correlator/gateway/guard"
)

// A program whose children end with it, however it ends itself. Its main begins with
// guard.Hook().
func Example() {
	g := guard.New(guard.Options{})
	defer func() { _ = g.Close() }() // last, when the children are closed
	c, err := conn.Spawn(context.Background(), conn.Command{Path: "cat", Guard: g}, conn.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("watched:", g.Stats().Watched)
	_ = c.Close()
	fmt.Println("watched:", g.Stats().Watched)
	// Output:
	// watched: 1
	// watched: 0
}
