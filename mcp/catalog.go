package mcp

import (
	"maps"
	"slices"
)

// catalog is the entries of one kind, in order and by name.
type catalog[E entry] struct {
	list []E
	by   map[string]E
	// veiled says that some entry is not shown to everybody.
	veiled bool
}

// entry is one thing that is listed.
type entry interface {
	key() string
	visible(Caller) bool
	veiled() bool
	listing(Revision) []byte
}

func (c *catalog[E]) add(e E) bool {
	if _, twice := c.by[e.key()]; twice {
		return false
	}
	if c.by == nil {
		c.by = make(map[string]E)
	}
	c.list, c.by[e.key()] = append(c.list, e), e
	c.veiled = c.veiled || e.veiled()
	return true
}

func (c *catalog[E]) remove(key string) {
	delete(c.by, key)
	c.list = slices.DeleteFunc(c.list, func(e E) bool { return e.key() == key })
	c.veiled = slices.ContainsFunc(c.list, E.veiled)
}

func (c *catalog[E]) clone() catalog[E] {
	return catalog[E]{list: slices.Clone(c.list), by: maps.Clone(c.by), veiled: c.veiled}
}

func (c *catalog[E]) names() []string {
	names := make([]string, len(c.list))
	for i, e := range c.list {
		names[i] = e.key()
	}
	return names
}
