package mcp

import (
	"github.com/correlator-go/correlator/codec"
)

// open begins a result of about n bytes.
func (r *Request) open(n int) []byte {
	if !r.isModern() {
		return append(make([]byte, 0, n+16), '{')
	}
	return append(make([]byte, 0, n+len(r.server.infoMeta)+48), `{"resultType":"complete",`...)
}

// close ends a result whose last member was written, with its _meta.
func (r *Request) close(dst []byte, meta Meta) ([]byte, error) {
	var members []byte
	if len(meta) > 0 {
		text, err := appendAny(nil, meta)
		if err != nil {
			return nil, err
		}
		members = text[1 : len(text)-1]
	}
	switch {
	case r.isModern():
		if _, own := meta[MetaServerInfo]; own { // the handler's own word stands
			dst = append(append(append(dst, `,"_meta":{`...), members...), '}')
		} else {
			dst = r.server.appendMeta(dst, members)
		}
	case members != nil:
		dst = append(append(append(dst, `,"_meta":{`...), members...), '}')
	}
	return append(dst, '}'), nil
}

// room is about how many bytes a result takes.
func (t *ToolResult) room() int {
	n := 64 + len(t.Structured)
	for i := range t.Content {
		c := &t.Content[i]
		n += 64 + len(c.Text) + len(c.Data)*4/3
	}
	return n
}

func (r *Request) appendToolResult(dst []byte, t *ToolResult) ([]byte, error) {
	dst = append(dst, `"content":[`...)
	var err error
	for i := range t.Content {
		if i > 0 {
			dst = append(dst, ',')
		}
		if dst, err = t.Content[i].append(dst); err != nil {
			return nil, err
		}
	}
	dst = append(dst, ']')
	if t.Structured != nil && (r.isModern() || isObject(t.Structured)) {
		if dst, err = appendAny(append(dst, `,"structuredContent":`...), t.Structured); err != nil {
			return nil, err
		}
	}
	if t.IsError {
		dst = append(dst, `,"isError":true`...)
	}
	return r.close(dst, t.Meta)
}

func (r *Request) appendReadResult(dst []byte, t *ReadResult, c Cache) ([]byte, error) {
	dst = append(dst, `"contents":[`...)
	var err error
	for i := range t.Contents {
		if i > 0 {
			dst = append(dst, ',')
		}
		if dst, err = t.Contents[i].append(dst); err != nil {
			return nil, err
		}
	}
	dst = append(dst, ']')
	if r.isModern() {
		if t.CacheScope != "" || t.TTLMillis != 0 {
			c = Cache{TTLMillis: t.TTLMillis, Public: t.CacheScope == "public"}
		}
		dst = appendCached(dst, c, r.target.veiled())
	}
	return r.close(dst, t.Meta)
}

func (r *Request) appendPromptResult(dst []byte, t *PromptResult) ([]byte, error) {
	dst = append(dst, `"messages":[`...)
	var err error
	for i := range t.Messages {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = codec.AppendString(append(dst, `{"role":`...), t.Messages[i].Role)
		if dst, err = t.Messages[i].Content.append(append(dst, `,"content":`...)); err != nil {
			return nil, err
		}
		dst = append(dst, '}')
	}
	dst = append(dst, ']')
	dst = appendOptional(dst, "description", t.Description)
	return r.close(dst, t.Meta)
}

// maxCompletions is how many values a completion has at most.
const maxCompletions = 100

func (r *Request) appendCompletion(dst []byte, t *CompletionResult) []byte {
	values, more := t.Values, t.HasMore
	if len(values) > maxCompletions {
		values, more = values[:maxCompletions], true
	}
	dst = append(dst, `"completion":{"values":[`...)
	for i, value := range values {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = codec.AppendString(dst, value)
	}
	dst = append(dst, ']')
	if t.Total > 0 {
		dst = appendNumber(append(dst, `,"total":`...), int64(t.Total))
	}
	if more {
		dst = append(dst, `,"hasMore":true`...)
	}
	dst = append(dst, '}')
	dst, _ = r.close(dst, nil) // there is nothing in it that could not be encoded
	return dst
}
