package mcp

import (
	"encoding/json"

	"github.com/correlator-go/correlator/codec"
)

// The types of content.
const (
	TypeText     = "text"
	TypeImage    = "image"
	TypeAudio    = "audio"
	TypeLink     = "resource_link"
	TypeResource = "resource"
)

// Content is one block of a result or a message; Type says which fields count.
// The functions Text, Image, Audio, Link and Embed make them.
type Content struct {
	// Type is one of the constants above, or one that they do not list.
	Type string `json:"type"`
	// Text is that of a text, Data and MIMEType are those of an image or a sound.
	Text     string `json:"text,omitempty"`
	Data     []byte `json:"data,omitempty"` // base64 on the wire
	MIMEType string `json:"mimeType,omitempty"`
	// Resource is what a block of type resource holds, Link what one of type
	// resource_link points to, with the annotations and the _meta of that block.
	Resource *Contents `json:"resource,omitempty"`
	Link     *Resource `json:"-"`
	// Annotations and Meta are the block's, of every other type.
	Annotations *Annotations `json:"annotations,omitempty"`
	Meta        Meta         `json:"_meta,omitempty"`
	// Raw is the JSON text of a block of a type that is not listed above. One that
	// is set is written as it is.
	Raw json.RawMessage `json:"-"`
}

// Text makes a block of text.
func Text(text string) Content { return Content{Type: TypeText, Text: text} }

// Image makes a picture; data are its bytes, not their encoding.
func Image(data []byte, mimeType string) Content {
	return Content{Type: TypeImage, Data: data, MIMEType: mimeType}
}

// Audio makes a sound.
func Audio(data []byte, mimeType string) Content {
	return Content{Type: TypeAudio, Data: data, MIMEType: mimeType}
}

// Link makes a link to a resource.
func Link(r Resource) Content { return Content{Type: TypeLink, Link: &r} }

// Embed makes a block that holds a resource's content.
func Embed(c Contents) Content { return Content{Type: TypeResource, Resource: &c} }

// ToolText makes a result of one block of text.
func ToolText(text string) *ToolResult {
	r := new(struct { // in one piece
		ToolResult
		blocks [1]Content
	})
	r.blocks[0] = Text(text)
	r.Content = r.blocks[:]
	return &r.ToolResult
}

// ToolFailure makes the result of a tool that failed; text is for the model.
func ToolFailure(text string) *ToolResult {
	r := ToolText(text)
	r.IsError = true
	return r
}

// MarshalJSON writes the block with the members that its type has, empty or not.
func (c Content) MarshalJSON() ([]byte, error) { return c.append(nil) }

// MarshalJSON writes the text or the blob, whichever it is.
func (c Contents) MarshalJSON() ([]byte, error) { return c.append(nil) }

type plainContent Content

// UnmarshalJSON reads a block, keeping the text of one of an unknown type in Raw.
func (c *Content) UnmarshalJSON(b []byte) error {
	var p plainContent
	if err := json.Unmarshal(b, &p); err != nil {
		return err
	}
	*c = Content(p)
	switch c.Type {
	case TypeLink:
		*c = Content{Type: TypeLink, Link: new(Resource)}
		return json.Unmarshal(b, c.Link)
	case TypeText, TypeImage, TypeAudio, TypeResource:
	default:
		c.Raw = append(json.RawMessage(nil), b...)
	}
	return nil
}

func (c *Content) append(dst []byte) ([]byte, error) {
	if c.Raw != nil {
		return append(dst, c.Raw...), nil
	}
	if c.Link != nil {
		start := len(dst)
		dst, err := appendAny(append(dst, `{"type":"resource_link"`...), c.Link)
		if err == nil {
			dst[start+len(`{"type":"resource_link"`)] = ',' // where the resource's brace was
		}
		return dst, err
	}
	dst = append(dst, `{"type":`...)
	dst = codec.AppendString(dst, c.Type)
	var err error
	switch c.Type {
	case TypeText:
		dst = appendMember(dst, "text", c.Text)
	case TypeImage, TypeAudio:
		dst = appendBase64(append(dst, `,"data":`...), c.Data)
		dst = appendMember(dst, "mimeType", c.MIMEType)
	case TypeResource:
		dst = append(dst, `,"resource":`...)
		contents := Contents{}
		if c.Resource != nil {
			contents = *c.Resource
		}
		dst, err = contents.append(dst)
	}
	if err == nil && c.Annotations != nil {
		dst, err = appendAny(append(dst, `,"annotations":`...), c.Annotations)
	}
	if err == nil && c.Meta != nil {
		dst, err = appendAny(append(dst, `,"_meta":`...), c.Meta)
	}
	return append(dst, '}'), err
}

func (c *Contents) append(dst []byte) ([]byte, error) {
	dst = append(dst, `{"uri":`...)
	dst = codec.AppendString(dst, c.URI)
	dst = appendOptional(dst, "mimeType", c.MIMEType)
	if c.Blob != nil {
		dst = appendBase64(append(dst, `,"blob":`...), c.Blob)
	} else {
		dst = appendMember(dst, "text", c.Text)
	}
	var err error
	if c.Meta != nil {
		dst, err = appendAny(append(dst, `,"_meta":`...), c.Meta)
	}
	return append(dst, '}'), err
}
