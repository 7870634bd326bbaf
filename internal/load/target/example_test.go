package target_test

import (
	"context"
	"fmt"

	"github.com/correlator-go/correlator/conn"
	"github.com/correlator-go/correlator/internal/load/target"
)

func ExampleOpen() {
	spec, _ := target.Parse("pipe:echo")
	t, _ := target.Open(context.Background(), spec, target.Options{})
	defer t.Close()
	result, err := t.Conns[0].Call(context.Background(), "any", []byte(`{"text":"hello"}`), conn.CallOptions{})
	fmt.Println(string(result), err)
	// Output: {"text":"hello"} <nil>
}
