package mcp

// Step is the protocol: what one input makes of a connection. It appends the
// effects to the slice given, in the order in which they are to be carried out,
// and returns it. It has no clock, no I/O and no randomness: the same inputs give
// the same effects. It keeps nothing of the input but copies.
//
// Step may be called by one goroutine at a time for one State. It never panics
// because of what a peer or a handler did.
func Step(s *State, in Input, effects []Effect) []Effect {
	return effects
}
