package codec

import "strconv"

// ParseID reads the JSON text raw as an id by the rules of p. The ID owns its
// bytes. Its error is a *[SyntaxError] that wraps [ErrInvalidID]; an empty raw
// gives the absent ID and no error. Whitespace around the text is refused. An unknown
// profile is [ErrUnknownProfile].
func ParseID(raw []byte, p Profile) (ID, error) {
	if !p.Known() {
		return ID{}, unknownProfile(p)
	}
	n := len(raw)
	if n == 0 {
		return ID{}, nil
	}
	if w := window(raw, 0); n < 8 && firstMark(nondigits(w)) == n && (n == 1 || raw[0] != '0') {
		return IntID(eightDigits(w, n)), nil
	}
	s := scanner{e: new(Envelope), maxDepth: 1}
	end, bad := s.skip(raw, 0, 0)
	if bad.bad() || end != len(raw) || raw[0] <= ' ' {
		return ID{}, newIDError(errID)
	}
	kind, number, bad := classifyID(raw, p)
	if bad != fine {
		return ID{}, newIDError(bad)
	}
	switch kind {
	case IDNull:
		return NullID(), nil
	case IDInt:
		return IntID(number), nil
	case IDNumber:
		return ID{text: string(raw)}, nil
	}
	// The opening quote stays in front: it marks the kind.
	text := raw[:len(raw)-1]
	if hasEscape(text) {
		text = unquote(append(make([]byte, 0, len(text)), '"'), text[1:], len(text))
	}
	return ID{text: string(text)}, nil
}

// classifyID says what kind of id the JSON value raw is, and its number when it
// is an IDInt.
func classifyID(raw []byte, p Profile) (IDKind, int64, problem) {
	switch c := raw[0]; {
	case c == '"':
		return IDString, 0, fine
	case c == 'n':
		return IDNull, 0, fine
	case c != '-' && c-'0' > 9:
		return IDAbsent, 0, errID
	}
	count, whole := 0, true
	for _, c := range raw {
		if c-'0' <= 9 {
			count++
		} else if c != '-' {
			whole = false
		}
	}
	switch {
	case !whole && p == MCP:
		return IDAbsent, 0, errID
	case count > MaxIDDigits:
		return IDAbsent, 0, errIDLength
	case !whole:
		return IDNumber, 0, fine
	case count > 19:
		return IDNumber, 0, fine
	}
	n, err := strconv.ParseInt(string(raw), 10, 64)
	if err != nil || n == 0 && raw[0] == '-' {
		return IDNumber, 0, fine
	}
	return IDInt, n, fine
}
