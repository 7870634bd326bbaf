package main

import (
	"context"
	"encoding/json"

	"github.com/correlator-go/correlator/mcp"
)

// watchedURI is the resource that says when it changes.
const watchedURI = "test://watched-resource"

// fixed makes a resource that never changes.
func fixed(uri, name, description, mimeType string, c mcp.Contents) mcp.ServerResource {
	c.URI, c.MIMEType = uri, mimeType
	return mcp.ServerResource{
		Resource: mcp.Resource{URI: uri, Name: name, Description: description, MIMEType: mimeType},
		Handle: func(context.Context, *mcp.Request) (*mcp.ReadResult, error) {
			return &mcp.ReadResult{Contents: []mcp.Contents{c}}, nil
		},
		Cache: mcp.Cache{TTLMillis: 60_000, Public: true},
	}
}

func resources() []mcp.ServerResource {
	return []mcp.ServerResource{
		fixed("test://static-text", "Static text", "A text that never changes", "text/plain",
			mcp.Contents{Text: "This is the content of the static text resource."}),
		fixed("test://static-binary", "Static image", "An image that never changes", "image/png", mcp.Contents{Blob: pixel}),
		fixed(watchedURI, "Watched", "A resource to subscribe to", "text/plain", mcp.Contents{Text: "Watched resource content"}),
	}
}

func templates() []mcp.ServerTemplate {
	return []mcp.ServerTemplate{{
		ResourceTemplate: mcp.ResourceTemplate{
			URITemplate: "test://template/{id}/data", Name: "Data by id", Description: "Data for an id", MIMEType: "application/json",
		},
		Handle: func(_ context.Context, r *mcp.Request) (*mcp.ReadResult, error) {
			text, err := json.Marshal(struct {
				ID           string `json:"id"`
				TemplateTest bool   `json:"templateTest"`
				Data         string `json:"data"`
			}{r.Variable("id"), true, "Data for ID: " + r.Variable("id")})
			if err != nil {
				return nil, err
			}
			return &mcp.ReadResult{Contents: []mcp.Contents{{URI: r.Name(), MIMEType: "application/json", Text: string(text)}}}, nil
		},
	}}
}
