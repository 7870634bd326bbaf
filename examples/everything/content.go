package main

import (
	"context"

	"github.com/correlator-go/correlator/mcp"
)

// pixel is a red PNG of one pixel, silence a WAV of no samples.
var (
	pixel = []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x02\x00\x00\x00\x90wS\xde" +
		"\x00\x00\x00\x0cIDATx\x9cc\xf8\xcf\xc0\x00\x00\x03\x01\x01\x00\xc9\xfe\x92\xef\x00\x00\x00\x00IEND\xaeB`\x82")
	silence = []byte("RIFF$\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00@\x1f\x00\x00\x80>\x00\x00\x02\x00\x10\x00data\x00\x00\x00\x00")
)

// none are the arguments of a tool that has none.
type none struct{}

// tool makes a tool without arguments.
func tool(name, description string, f func(ctx context.Context, r *mcp.Request) (*mcp.ToolResult, error)) mcp.ServerTool {
	return mcp.NewTool(mcp.Tool{Name: name, Description: description},
		func(ctx context.Context, r *mcp.Request, _ none) (*mcp.ToolResult, error) { return f(ctx, r) })
}

// content makes a tool that always answers with the same blocks.
func content(name, description string, blocks ...mcp.Content) mcp.ServerTool {
	return tool(name, description, func(context.Context, *mcp.Request) (*mcp.ToolResult, error) {
		return &mcp.ToolResult{Content: blocks}, nil
	})
}

// contentTools answer with each kind of content.
func contentTools() []mcp.ServerTool {
	embedded := mcp.Contents{URI: "test://embedded-resource", MIMEType: "text/plain", Text: "This is an embedded resource content."}
	mixed := mcp.Contents{URI: "test://mixed-content-resource", MIMEType: "application/json", Text: `{"test":"data","value":123}`}
	return []mcp.ServerTool{
		content("test_simple_text", "Answers with text", mcp.Text("This is a simple text response for testing.")),
		content("test_image_content", "Answers with an image", mcp.Image(pixel, "image/png")),
		content("test_audio_content", "Answers with audio", mcp.Audio(silence, "audio/wav")),
		content("test_embedded_resource", "Answers with a resource", mcp.Embed(embedded)),
		content("test_multiple_content_types", "Answers with text, an image and a resource",
			mcp.Text("Multiple content types test:"), mcp.Image(pixel, "image/png"), mcp.Embed(mixed)),
		tool("test_error_handling", "Always fails", func(context.Context, *mcp.Request) (*mcp.ToolResult, error) {
			return mcp.ToolFailure("This tool intentionally returns an error for testing"), nil
		}),
		mcp.NewTool(mcp.Tool{Name: "echo", Description: "Answers with its message"},
			func(_ context.Context, _ *mcp.Request, in echoed) (string, error) { return in.Message, nil }),
		mcp.NewTool(mcp.Tool{Name: "add", Description: "Adds two numbers, with a structured result"},
			func(_ context.Context, _ *mcp.Request, in addends) (sum, error) { return sum{in.A + in.B}, nil }),
	}
}

type echoed struct {
	Message string `json:"message" jsonschema:"what to answer with"`
}

type addends struct {
	A float64 `json:"a"`
	B float64 `json:"b"`
}

type sum struct {
	Sum float64 `json:"sum"`
}
