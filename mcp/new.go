package mcp

// Server is a description that was checked and prepared. It never changes, and is
// safe for concurrent use by any number of States.
type Server struct {
	d Description
}

// NewServer checks d and prepares it. Its errors name the entry that is wrong.
func NewServer(d Description) (*Server, error) {
	return &Server{d: d}, nil
}

// Info is the server's name.
func (s *Server) Info() Implementation { return s.d.Info }
