package client

import (
	"context"
	"encoding/json"
	"maps"
	"slices"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/mcp"
)

// elicit asks the user, and fills in the form's defaults.
func (c *Client) elicit(ctx context.Context, params []byte) ([]byte, error) {
	return answerWith(c, params, func(p mcp.ElicitParams) (mcp.ElicitResult, error) {
		if p.Mode == "url" && !c.o.ElicitURL {
			return mcp.ElicitResult{}, &codec.Error{Code: codec.CodeInvalidParams, Message: `invalid params: mode "url" was not declared`}
		}
		r, err := c.o.Elicit(ctx, p)
		if err == nil && r.Action == "accept" && p.Mode != "url" {
			r.Content, err = withDefaults(r.Content, p.RequestedSchema)
		}
		return r, err
	})
}

// withDefaults is content with the defaults of the form's members that it lacks.
func withDefaults(content, schema json.RawMessage) (json.RawMessage, error) {
	var form struct {
		Properties map[string]struct {
			Default json.RawMessage `json:"default"`
		} `json:"properties"`
	}
	if len(schema) == 0 || codec.DecodeValue(schema, &form) != nil {
		return content, nil // a form that cannot be read has no defaults
	}
	given := map[string]json.RawMessage{}
	if len(content) > 0 {
		if err := codec.DecodeValue(content, &given); err != nil {
			return nil, err
		}
	}
	var missing []byte
	for _, name := range slices.Sorted(maps.Keys(form.Properties)) {
		if _, ok := given[name]; !ok && len(form.Properties[name].Default) > 0 {
			missing = appendMember(missing, name, form.Properties[name].Default)
		}
	}
	if len(missing) == 0 {
		return content, nil
	}
	var b []byte
	for _, name := range slices.Sorted(maps.Keys(given)) {
		b = appendMember(b, name, given[name])
	}
	if len(b) > 0 {
		b = append(b, ',')
	}
	return slices.Concat([]byte("{"), b, missing, []byte("}")), nil
}
