package gateway

// Backends is how many ways the gateway remembers, those without a server among them.
func (g *Gateway) Backends() (n int) {
	for _, t := range g.plan.Load().targets {
		t.mu.Lock()
		n += len(t.backends)
		t.mu.Unlock()
	}
	return n
}
