package mcp

import (
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
)

// Server is a description that was checked and prepared. It never changes, and is
// safe for concurrent use by any number of States.
type Server struct {
	d         Description
	key       []byte
	modern    []Revision
	legacy    []Revision
	tools     catalog[*tool]
	resources catalog[*resource]
	templates catalog[*template]
	prompts   catalog[*prompt]
	stateTTL  int64

	infoMeta []byte // "io.modelcontextprotocol/serverInfo":{…}
	capsJSON []byte // what both eras declare, an object
	common   []byte // ,"instructions":…: what follows the capabilities
	info     []byte // the Implementation
}

// NewServer checks d and prepares it. Its errors name the entry that is wrong.
func NewServer(d Description) (*Server, error) {
	s := &Server{d: d, key: slices.Clone(d.Key), stateTTL: d.StateTTLMillis}
	switch {
	case d.Info.Name == "" || d.Info.Version == "":
		return nil, errors.New("mcp: Info needs a Name and a Version")
	case d.Key != nil && len(d.Key) < minKey:
		return nil, fmt.Errorf("mcp: Key has %d bytes, needs %d", len(d.Key), minKey)
	case d.Key == nil:
		s.key = make([]byte, 32)
		rand.Read(s.key) // never fails
	}
	switch {
	case s.stateTTL == 0:
		s.stateTTL = 15 * 60 * 1000
	case s.stateTTL < 0:
		s.stateTTL = -1
	}
	if err := s.setRevisions(d.Revisions); err != nil {
		return nil, err
	}
	var err error
	if s.info, err = appendAny(nil, d.Info); err != nil {
		return nil, fmt.Errorf("mcp: Info: %w", err)
	}
	s.infoMeta = append([]byte(`"`+MetaServerInfo+`":`), s.info...)
	for i := range d.Tools {
		if err := s.addTool(d.Tools[i]); err != nil {
			return nil, err
		}
	}
	for i := range d.Resources {
		if err := s.addResource(d.Resources[i]); err != nil {
			return nil, err
		}
	}
	for i := range d.Templates {
		if err := s.addTemplate(d.Templates[i]); err != nil {
			return nil, err
		}
	}
	for i := range d.Prompts {
		if err := s.addPrompt(d.Prompts[i]); err != nil {
			return nil, err
		}
	}
	return s, s.declare()
}

// minKey is the fewest bytes of a Key.
const minKey = 16

func (s *Server) setRevisions(wanted []Revision) error {
	if wanted == nil {
		wanted = Revisions()
	}
	for _, r := range Revisions() {
		if slices.Contains(wanted, r) {
			if r.IsModern() {
				s.modern = append(s.modern, r)
			} else {
				s.legacy = append(s.legacy, r)
			}
		}
	}
	for _, r := range wanted {
		if !slices.Contains(Revisions(), r) {
			return fmt.Errorf("mcp: Revisions has %q, which is not one of Revisions()", r)
		}
	}
	if len(wanted) == 0 {
		return errors.New("mcp: Revisions is empty: nothing would be served")
	}
	return nil
}

// declare encodes what server/discover and initialize say.
func (s *Server) declare() error {
	c := s.Capabilities()
	var err error
	if s.capsJSON, err = appendAny(nil, c); err != nil {
		return fmt.Errorf("mcp: Experimental or Extensions: %w", err)
	}
	s.common = appendOptional(nil, "instructions", s.d.Instructions)
	return nil
}

// Capabilities is what s declares: what it has something of.
func (s *Server) Capabilities() ServerCapabilities {
	c := ServerCapabilities{Experimental: s.d.Experimental, Extensions: s.d.Extensions}
	if s.hasTools() {
		c.Tools = &ListCapability{ListChanged: true}
	}
	if s.hasResources() {
		c.Resources = &ResourcesCapability{ListChanged: true, Subscribe: true}
	}
	if s.hasPrompts() {
		c.Prompts = &ListCapability{ListChanged: true}
	}
	if s.d.Complete != nil {
		c.Completions = &struct{}{}
	}
	if s.d.Logging {
		c.Logging = &struct{}{}
	}
	return c
}

// Info is the server's name.
func (s *Server) Info() Implementation { return s.d.Info }

// Revisions returns the revisions that s serves, newest first. The slice is the
// caller's.
func (s *Server) Revisions() []Revision { return append(slices.Clone(s.modern), s.legacy...) }

// ToolNames returns the names of the tools, in the order in which they are listed.
func (s *Server) ToolNames() []string { return s.tools.names() }

func (s *Server) hasTools() bool     { return len(s.tools.list) > 0 }
func (s *Server) hasResources() bool { return len(s.resources.list)+len(s.templates.list) > 0 }
func (s *Server) hasPrompts() bool   { return len(s.prompts.list) > 0 }

// withTool gives the server that has t too, for RegisterTool; s itself stays as
// it is.
func (s *Server) withTool(t ServerTool) (*Server, error) {
	c := *s
	c.tools = s.tools.clone()
	if err := c.addTool(t); err != nil {
		return nil, err
	}
	return &c, c.declare()
}

// withoutTool gives the server that lacks the tool; false when s has none of that
// name.
func (s *Server) withoutTool(name string) (*Server, bool) {
	if _, ok := s.tools.by[name]; !ok {
		return nil, false
	}
	c := *s
	c.tools = s.tools.clone()
	c.tools.remove(name)
	return &c, c.declare() == nil
}
