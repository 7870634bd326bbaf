package report

import (
	"encoding/json"
	"fmt"
	"io"

	hdr "github.com/HdrHistogram/hdrhistogram-go"

	"github.com/correlator-go/correlator/internal/load/tally"
)

// Read reads what [Document.Write] wrote. It refuses other schemas, and text
// after the document.
func Read(r io.Reader) (*Document, error) {
	decoder := json.NewDecoder(r)
	var d Document
	if err := decoder.Decode(&d); err != nil {
		return nil, fmt.Errorf("not a run of loadgen: %w", err)
	}
	if d.Schema != Schema {
		return nil, fmt.Errorf("its schema is %q, this loadgen reads %q: run it again", d.Schema, Schema)
	}
	if _, err := decoder.Token(); err != io.EOF {
		return nil, fmt.Errorf("there is more than one run in it")
	}
	return &d, nil
}

// Decode returns the whole histogram, in nanoseconds; an empty one where none was
// kept.
func (d Distribution) Decode() (*hdr.Histogram, error) {
	if d.Histogram == "" {
		return tally.NewHistogram(), nil
	}
	h, err := hdr.Decode([]byte(d.Histogram))
	if err != nil {
		return nil, fmt.Errorf("decoding a histogram: %w", err)
	}
	return h, nil
}
