package main

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/correlator-go/correlator/client"
	"github.com/correlator-go/correlator/conn"
)

func main() {
	ctx := context.Background()
	server := client.Command(conn.Command{Path: os.Args[1], Args: os.Args[2:]})
	c := must(client.Connect(ctx, server, client.Options{}))
	defer c.Close()
	for tool, err := range c.Tools(ctx) {
		fmt.Println(must(tool, err).Name, "-", tool.Description)
	}
	r := must(c.CallTool(ctx, "add", map[string]int{"a": 40, "b": 2}, client.CallOptions{}))
	fmt.Printf("%s\n", r.Structured)
}

func must[T any](v T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return v
}
