package mcp

// session is what the older era keeps for a connection. The modern one keeps
// nothing.
//
//	fresh ──initialize──▶ agreed ──notifications/initialized──▶ ready
//
// Requests are served from agreed on; what we ask the client waits for ready.
type session struct {
	revision Revision // "" while fresh
	ready    bool
	peer     *peer
	level    Level
	watched  map[string]struct{}
	held     []Effect // asks that wait for ready
}

// peer is what a client said of itself in initialize. It never changes.
type peer struct {
	revision           Revision
	capabilities, info []byte
}
