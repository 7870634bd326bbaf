package otel_test

import (
	"context"
	"fmt"
	"strings"

	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/correlator-go/correlator/adapters/otel"
	"github.com/correlator-go/correlator/client"
	"github.com/correlator-go/correlator/mcp"
	"github.com/correlator-go/correlator/serve"
)

// A client and a server that are observed, with providers that keep everything in
// memory. The handler's own span ends up in the caller's trace.
func Example() {
	ctx := context.Background()
	spans, reader := tracetest.NewInMemoryExporter(), sdkmetric.NewManualReader()
	traces := sdktrace.NewTracerProvider(sdktrace.WithSyncer(spans))
	t, err := otel.New(otel.Options{TracerProvider: traces, MeterProvider: sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader))})
	if err != nil {
		panic(err)
	}

	greet := mcp.ServerTool{Tool: mcp.Tool{Name: "greet"}, Handle: func(ctx context.Context, r *mcp.Request) (*mcp.ToolResult, error) {
		_, span := traces.Tracer("greeter").Start(ctx, "think of words")
		defer span.End()
		return mcp.ToolText("Hello"), nil
	}}
	d, err := mcp.NewServer(mcp.Description{Info: mcp.Implementation{Name: "greeter", Version: "1"}, Tools: []mcp.ServerTool{greet}})
	if err != nil {
		panic(err)
	}
	s, err := serve.New(d, t.Server(serve.Options{}, otel.Stdio))
	if err != nil {
		panic(err)
	}
	defer s.Close()

	c, err := t.Connect(ctx, client.Stream(s.InProcess(ctx)), client.Options{Era: client.EraModern}, otel.Stdio)
	if err != nil {
		panic(err)
	}
	defer c.Close()
	spans.Reset() // what the handshake left
	if _, err := c.CallTool(ctx, "greet", nil, client.CallOptions{}); err != nil {
		panic(err)
	}

	tree(spans.GetSpans(), trace.SpanID{}, 0)
	var out metricdata.ResourceMetrics
	if err := reader.Collect(ctx, &out); err != nil {
		panic(err)
	}
	for _, m := range out.ScopeMetrics[0].Metrics {
		if m.Name == "mcp.client.operation.duration" {
			fmt.Println(m.Name, "in", m.Unit)
		}
	}
	// Output:
	// client tools/call greet
	//   server tools/call greet
	//     internal think of words
	// mcp.client.operation.duration in s
}

// tree prints the spans below a parent.
func tree(spans tracetest.SpanStubs, parent trace.SpanID, depth int) {
	for _, s := range spans {
		if s.Parent.SpanID() == parent {
			fmt.Println(strings.Repeat("  ", depth)+s.SpanKind.String(), s.Name)
			tree(spans, s.SpanContext.SpanID(), depth+1)
		}
	}
}
