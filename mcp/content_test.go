package mcp_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/mcp"
)

// Every type of block is written with the members that the schema demands, and
// read back as it was.
func TestContent(t *testing.T) {
	half := 0.5
	for want, c := range map[string]mcp.Content{
		`{"type":"text","text":""}`: mcp.Text(""),
		`{"type":"text","text":"a\"b","annotations":{"audience":["user"],"priority":0.5},"_meta":{"k":1}}`: {
			Type: mcp.TypeText, Text: `a"b`, Annotations: &mcp.Annotations{Audience: []string{"user"}, Priority: &half},
			Meta: mcp.Meta{"k": json.RawMessage("1")},
		},
		`{"type":"image","data":"AQI=","mimeType":"image/png"}`: mcp.Image([]byte{1, 2}, "image/png"),
		`{"type":"audio","data":"AQI=","mimeType":"audio/wav"}`: mcp.Audio([]byte{1, 2}, "audio/wav"),
		`{"type":"resource_link","uri":"a:b","name":"n","title":"t","description":"d","mimeType":"text/plain","size":3,"icons":[{"src":"i"}]}`: mcp.Link(mcp.Resource{
			URI: "a:b", Name: "n", Title: "t", Description: "d", MIMEType: "text/plain", Size: 3, Icons: []mcp.Icon{{Src: "i"}},
		}),
		`{"type":"resource","resource":{"uri":"a:b","text":""}}`: mcp.Embed(mcp.Contents{URI: "a:b"}),
		`{"type":"resource","resource":{"uri":"a:b","mimeType":"image/png","blob":"AQI=","_meta":{"k":1}}}`: mcp.Embed(mcp.Contents{
			URI: "a:b", MIMEType: "image/png", Blob: []byte{1, 2}, Meta: mcp.Meta{"k": json.RawMessage("1")},
		}),
		`{"type":"tool_use","id":"1"}`: {Type: "tool_use", Raw: json.RawMessage(`{"type":"tool_use","id":"1"}`)},
	} {
		text, err := json.Marshal(c)
		require.NoError(t, err)
		require.Equal(t, want, string(text))
		var back mcp.Content
		require.NoError(t, json.Unmarshal(text, &back))
		require.Equal(t, c, back)
	}
	_, err := json.Marshal(mcp.Content{Type: mcp.TypeText, Meta: mcp.Meta{"k": json.RawMessage("{")}})
	require.Error(t, err)
	require.Error(t, json.Unmarshal([]byte(`{"type":1}`), new(mcp.Content)))
}

func TestLevels(t *testing.T) {
	for l := mcp.LevelDebug; l <= mcp.LevelEmergency; l++ {
		back, ok := mcp.ParseLevel([]byte(l.String()))
		require.True(t, ok)
		require.Equal(t, l, back)
	}
	_, ok := mcp.ParseLevel(nil)
	require.False(t, ok)
	require.Empty(t, mcp.LevelNone.String())
}
