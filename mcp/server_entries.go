package mcp

import (
	"errors"
	"fmt"
)

// tool is a ServerTool, prepared.
type tool struct {
	ServerTool
	requires capabilities
	headers  []paramHeader
	modern   []byte // the listing
	legacy   []byte // that of the older era: an output schema is an object there
}

func (t *tool) key() string  { return t.Name }
func (t *tool) veiled() bool { return t.Visible != nil }
func (t *tool) visible(c Caller) bool {
	return t.Visible == nil || t.Visible(c)
}

func (t *tool) callable(c Caller) bool {
	return t.visible(c) && (t.Callable == nil || t.Callable(c))
}

func (t *tool) listing(r Revision) []byte {
	if r.IsModern() {
		return t.modern
	}
	return t.legacy
}

// maxName is the longest name of a tool, in bytes.
const maxName = 128

// isToolName reports whether name is 1 to 128 of the bytes that tools may have.
func isToolName(name string) bool {
	if len(name) == 0 || len(name) > maxName {
		return false
	}
	for i := range len(name) {
		switch c := name[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9':
		case c == '.', c == '_', c == '/', c == '-':
		default:
			return false
		}
	}
	return true
}

func (s *Server) addTool(st ServerTool) error {
	t := &tool{ServerTool: st, requires: capabilitiesOf(st.Requires)}
	switch {
	case st.err != nil:
		return fmt.Errorf("mcp: tool %q: %w", st.Name, st.err)
	case !isToolName(st.Name):
		return fmt.Errorf("mcp: tool %q: the name is not 1 to %d of A-Z a-z 0-9 . _ / -", st.Name, maxName)
	case st.Handle == nil:
		return fmt.Errorf("mcp: tool %q has no handler", st.Name)
	}
	if len(t.InputSchema) == 0 {
		t.InputSchema = []byte(`{"type":"object"}`)
	}
	err := t.encode()
	if err == nil {
		t.headers, err = readParamHeaders(t.InputSchema)
	}
	if err != nil {
		return fmt.Errorf("mcp: tool %q: %w", st.Name, err)
	}
	if !s.tools.add(t) {
		return fmt.Errorf("mcp: tool %q stands twice", st.Name)
	}
	return nil
}

// encode writes the listings.
func (t *tool) encode() (err error) {
	if t.InputSchema, err = compact(t.InputSchema); err != nil {
		return fmt.Errorf("input schema: %w", err)
	}
	if string(member(t.InputSchema, "type")) != `"object"` {
		return errors.New(`input schema: its type is not "object"`)
	}
	if len(t.OutputSchema) > 0 {
		if t.OutputSchema, err = compact(t.OutputSchema); err != nil {
			return fmt.Errorf("output schema: %w", err)
		}
	}
	if t.modern, err = appendAny(nil, t.Tool); err != nil {
		return err
	}
	t.legacy = t.modern
	if len(t.OutputSchema) > 0 && string(member(t.OutputSchema, "type")) != `"object"` {
		plain := t.Tool
		plain.OutputSchema = nil
		t.legacy, err = appendAny(nil, plain)
	}
	return err
}

// compact validates a JSON text and takes its whitespace out.
func compact(text []byte) ([]byte, error) { return appendAny(nil, rawText(text)) }

// resource is a ServerResource, prepared.
type resource struct {
	ServerResource
	text []byte
}

func (r *resource) key() string             { return r.URI }
func (r *resource) veiled() bool            { return r.Visible != nil }
func (r *resource) visible(c Caller) bool   { return r.Visible == nil || r.Visible(c) }
func (r *resource) listing(Revision) []byte { return r.text }

func (s *Server) addResource(sr ServerResource) error {
	r := &resource{ServerResource: sr}
	switch {
	case sr.URI == "" || sr.Name == "":
		return fmt.Errorf("mcp: resource %q: it needs a URI and a Name", sr.URI)
	case sr.Handle == nil:
		return fmt.Errorf("mcp: resource %q has no handler", sr.URI)
	}
	var err error
	if r.text, err = appendAny(nil, sr.Resource); err != nil {
		return fmt.Errorf("mcp: resource %q: %w", sr.URI, err)
	}
	if !s.resources.add(r) {
		return fmt.Errorf("mcp: resource %q stands twice", sr.URI)
	}
	return nil
}

// template is a ServerTemplate, prepared.
type template struct {
	ServerTemplate
	pattern pattern
	text    []byte
}

func (t *template) key() string             { return t.URITemplate }
func (t *template) veiled() bool            { return t.Visible != nil }
func (t *template) visible(c Caller) bool   { return t.Visible == nil || t.Visible(c) }
func (t *template) listing(Revision) []byte { return t.text }

func (s *Server) addTemplate(st ServerTemplate) error {
	t := &template{ServerTemplate: st}
	switch {
	case st.URITemplate == "" || st.Name == "":
		return fmt.Errorf("mcp: template %q: it needs a URITemplate and a Name", st.URITemplate)
	case st.Handle == nil:
		return fmt.Errorf("mcp: template %q has no handler", st.URITemplate)
	}
	var err error
	if t.pattern, err = parsePattern(st.URITemplate); err != nil {
		return fmt.Errorf("mcp: template %q: %w", st.URITemplate, err)
	}
	if t.text, err = appendAny(nil, st.ResourceTemplate); err != nil {
		return fmt.Errorf("mcp: template %q: %w", st.URITemplate, err)
	}
	if !s.templates.add(t) {
		return fmt.Errorf("mcp: template %q stands twice", st.URITemplate)
	}
	return nil
}

// prompt is a ServerPrompt, prepared.
type prompt struct {
	ServerPrompt
	text []byte
}

func (p *prompt) key() string             { return p.Name }
func (p *prompt) veiled() bool            { return p.Visible != nil }
func (p *prompt) visible(c Caller) bool   { return p.Visible == nil || p.Visible(c) }
func (p *prompt) listing(Revision) []byte { return p.text }

func (s *Server) addPrompt(sp ServerPrompt) error {
	p := &prompt{ServerPrompt: sp}
	switch {
	case sp.Name == "":
		return errors.New("mcp: a prompt needs a Name")
	case sp.Handle == nil:
		return fmt.Errorf("mcp: prompt %q has no handler", sp.Name)
	}
	var err error
	if p.text, err = appendAny(nil, sp.Prompt); err != nil {
		return fmt.Errorf("mcp: prompt %q: %w", sp.Name, err)
	}
	if !s.prompts.add(p) {
		return fmt.Errorf("mcp: prompt %q stands twice", sp.Name)
	}
	return nil
}
