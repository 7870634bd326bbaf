package status

import (
	"log/slog"

	"github.com/correlator-go/correlator/gateway"
)

// Export is where telemetry goes, by OTLP over HTTP. The zero value sends nothing.
type Export struct {
	// Endpoint is http://host:port or https://host:port of a collector.
	Endpoint string
	// Headers go with each export.
	Headers map[string]string
	// Sample is which part of the traces that begin at the gateway is recorded. Zero is
	// all.
	Sample float64
}

type exporter struct{}

func newExporter(e Export, _ *slog.Logger) (*exporter, error) { return nil, nil }

func (x *exporter) call(*gateway.Event) {}

func (x *exporter) close() error { return nil }
