package main

import (
	"context"
	"log"

	"github.com/correlator-go/correlator/mcp"
	"github.com/correlator-go/correlator/serve"
)

type addends struct {
	A int `json:"a" jsonschema:"the first number"`
	B int `json:"b" jsonschema:"the second number"`
}

func add(_ context.Context, _ *mcp.Request, in addends) (map[string]int, error) {
	return map[string]int{"sum": in.A + in.B}, nil
}

func main() {
	tools := must(mcp.NewServer(mcp.Description{
		Info:  mcp.Implementation{Name: "calculator", Version: "1.0.0"},
		Tools: []mcp.ServerTool{mcp.NewTool(mcp.Tool{Name: "add", Description: "Adds two numbers"}, add)},
	}))
	server := must(serve.New(tools, serve.Options{}))
	if err := server.Stdio(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return v
}
