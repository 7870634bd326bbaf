package mcp

import "slices"

// capabilities is the part of ClientCapabilities that decides something, as bits.
type capabilities uint8

const (
	canSample capabilities = 1 << iota
	canElicit              // forms
	canElicitURL
	canRoots
	cannot // nobody declares it: asked by a method that is no input request
)

// readCapabilities reads a validated capabilities object.
func readCapabilities(text []byte) capabilities {
	var c capabilities
	m, _ := membersOf(text)
	for name, span, ok := m.next(); ok; name, span, ok = m.next() {
		value := span.Of(text)
		if !isObject(value) {
			continue
		}
		switch string(name) {
		case "sampling":
			c |= canSample
		case "roots":
			c |= canRoots
		case "elicitation":
			form, url := isObject(member(value, "form")), isObject(member(value, "url"))
			if form || !url {
				c |= canElicit
			}
			if url {
				c |= canElicitURL
			}
		}
	}
	return c
}

// capabilitiesOf gives the bits of a description's requirement.
func capabilitiesOf(c ClientCapabilities) capabilities {
	var bits capabilities
	if c.Sampling != nil {
		bits |= canSample
	}
	if c.Roots != nil {
		bits |= canRoots
	}
	if e := c.Elicitation; e != nil {
		if e.URL != nil {
			bits |= canElicitURL
		}
		if e.Form != nil || e.URL == nil {
			bits |= canElicit
		}
	}
	return bits
}

// append writes the capabilities as a ClientCapabilities object.
func (c capabilities) append(dst []byte) []byte {
	dst = append(dst, '{')
	start := len(dst)
	add := func(text string) {
		if len(dst) > start {
			dst = append(dst, ',')
		}
		dst = append(dst, text...)
	}
	if c&canElicitURL != 0 {
		if c&canElicit != 0 {
			add(`"elicitation":{"form":{},"url":{}}`)
		} else {
			add(`"elicitation":{"url":{}}`)
		}
	} else if c&canElicit != 0 {
		add(`"elicitation":{}`)
	}
	if c&canRoots != 0 {
		add(`"roots":{}`)
	}
	if c&canSample != 0 {
		add(`"sampling":{}`)
	}
	return append(dst, '}')
}

// needs gives the capability that a client needs to answer r; cannot for a
// method that is no input request.
func (r InputRequest) needs() capabilities {
	switch r.Method {
	case MethodCreateMessage:
		return canSample
	case MethodListRoots:
		return canRoots
	case MethodElicit:
		if mode, _ := stringOf(member(r.Params, "mode")); slices.Equal(mode, []byte("url")) {
			return canElicitURL
		}
		return canElicit
	}
	return cannot
}
