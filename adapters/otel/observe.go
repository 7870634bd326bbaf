package otel

import (
	"context"
	"errors"
	"fmt"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// observe registers one callback for all readings, so that what is collected
// together is of one snapshot.
func observe[S any](meter metric.Meter, read func() S, which attribute.KeyValue, readings []reading[S]) (Registration, error) {
	instruments := make(map[string]metric.Int64Observable)
	var all []metric.Observable
	var failed error
	for _, r := range readings {
		if instruments[r.name] != nil {
			continue
		}
		var i metric.Int64Observable
		var err error
		if r.gauge {
			i, err = meter.Int64ObservableUpDownCounter(r.name, metric.WithUnit(r.unit), metric.WithDescription(r.text))
		} else {
			i, err = meter.Int64ObservableCounter(r.name, metric.WithUnit(r.unit), metric.WithDescription(r.text))
		}
		failed = errors.Join(failed, err)
		instruments[r.name] = i
		all = append(all, i)
	}
	if failed != nil {
		return nil, fmt.Errorf("otel: instruments: %w", failed)
	}
	sets := make([]metric.ObserveOption, len(readings))
	for i, r := range readings {
		attrs := []attribute.KeyValue{which}
		if r.kind.Valid() {
			attrs = append(attrs, r.kind)
		}
		sets[i] = metric.WithAttributeSet(attribute.NewSet(attrs...))
	}
	registration, err := meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		s := read()
		for i, r := range readings {
			o.ObserveInt64(instruments[r.name], r.of(&s), sets[i])
		}
		return nil
	}, all...)
	if err != nil {
		return nil, fmt.Errorf("otel: callback: %w", err)
	}
	return registration, nil
}
