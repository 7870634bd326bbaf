package mcp

func (s *State) check(out []Effect) {}
