package report_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/internal/load/tally"
)

const schemaFile = "../../../docs/loadgen-schema.json"

// Whatever a run leaves, the schema in docs describes it.
func TestDocumentsMatchTheSchema(t *testing.T) {
	text, err := os.ReadFile(schemaFile)
	require.NoError(t, err)
	var schema map[string]any
	require.NoError(t, json.Unmarshal(text, &schema))
	for name, d := range documents(t) {
		var out bytes.Buffer
		require.NoError(t, d.Write(&out))
		var value map[string]any
		require.NoError(t, json.Unmarshal(out.Bytes(), &value))
		require.Empty(t, violations(schema, schema, value, name))

		// Every member is described, and a strange one is noticed.
		value["extra"] = 1
		delete(value, "counts")
		require.Len(t, violations(schema, schema, value, name), 2)
	}
}

// So do searches and comparisons, which have places of their own in it.
func TestOtherDocumentsMatchTheSchema(t *testing.T) {
	text, err := os.ReadFile(schemaFile)
	require.NoError(t, err)
	var schema map[string]any
	require.NoError(t, json.Unmarshal(text, &schema))
	for name, d := range map[string]interface{ Write(io.Writer) error }{
		"search": searched(t), "comparison": compared(t, 5, 1), "comparison of seconds": compared(t, 1, 1),
	} {
		var out bytes.Buffer
		require.NoError(t, d.Write(&out))
		var value map[string]any
		require.NoError(t, json.Unmarshal(out.Bytes(), &value))
		def, _, _ := strings.Cut(name, " ")
		require.Empty(t, violations(schema, schema["$defs"].(map[string]any)[def].(map[string]any), value, name))
		value["extra"] = 1
		require.Len(t, violations(schema, schema["$defs"].(map[string]any)[def].(map[string]any), value, name), 1)
	}
}

// The histogram in the document is the one that the figures were read from.
func TestHistogramRoundTrip(t *testing.T) {
	for _, d := range documents(t) {
		h, err := hdr.Decode([]byte(d.Latency.Response.Histogram))
		require.NoError(t, err)
		require.Equal(t, d.Latency.Response.Count, h.TotalCount())
		require.Equal(t, d.Latency.Response.Max, h.Max())
		if h.TotalCount() > 0 {
			require.Equal(t, d.Latency.Response.P99, h.ValueAtPercentile(99))
			require.Equal(t, d.Latency.Response.P99999, h.ValueAtPercentile(99.999))
		}
		sum := tally.NewHistogram()
		for _, i := range d.Intervals {
			part, err := hdr.Decode([]byte(i.Response.Histogram))
			require.NoError(t, err)
			require.Equal(t, i.Response.Count, part.TotalCount())
			require.Zero(t, sum.Merge(part))
		}
		require.True(t, sum.Equals(h), "the intervals sum up to the total")
	}
}

// violations checks the part of JSON Schema that the schema uses.
func violations(root, schema map[string]any, value any, at string) (out []string) {
	if ref, ok := schema["$ref"].(string); ok {
		name := strings.TrimPrefix(ref, "#/$defs/")
		out = append(out, violations(root, root["$defs"].(map[string]any)[name].(map[string]any), value, at)...)
	}
	bad := func(format string, args ...any) { out = append(out, at+": "+fmt.Sprintf(format, args...)) }
	for key, rule := range schema {
		switch key {
		case "type":
			if !slices.ContainsFunc(list(rule), func(name any) bool { return isType(value, name.(string)) }) {
				bad("%v is no %v", value, rule)
			}
		case "const":
			if value != rule {
				bad("%v is not %v", value, rule)
			}
		case "enum":
			if !slices.Contains(rule.([]any), value) {
				bad("%v is none of %v", value, rule)
			}
		case "minimum":
			if n, ok := value.(float64); ok && n < rule.(float64) {
				bad("%v is below %v", value, rule)
			}
		case "items":
			items, _ := value.([]any)
			for i, item := range items {
				out = append(out, violations(root, rule.(map[string]any), item, fmt.Sprint(at, ".", i))...)
			}
		case "required":
			object, ok := value.(map[string]any)
			for _, name := range rule.([]any) {
				if _, has := object[name.(string)]; ok && !has {
					bad("no member %v", name)
				}
			}
		case "properties":
			object, _ := value.(map[string]any)
			for name, member := range object {
				if known, ok := rule.(map[string]any)[name]; ok {
					out = append(out, violations(root, known.(map[string]any), member, at+"."+name)...)
				} else if schema["additionalProperties"] == false {
					bad("member %v is not described", name)
				}
			}
		case "$ref", "$defs", "$schema", "$id", "title", "description", "additionalProperties":
		default:
			bad("the schema uses %v, which this test does not know", key)
		}
	}
	return out
}

func list(v any) []any {
	if many, ok := v.([]any); ok {
		return many
	}
	return []any{v}
}

func isType(v any, name string) bool {
	switch v := v.(type) {
	case map[string]any:
		return name == "object"
	case []any:
		return name == "array"
	case string:
		return name == "string"
	case bool:
		return name == "boolean"
	case float64:
		return name == "number" || name == "integer" && v == math.Trunc(v)
	}
	return name == "null"
}
