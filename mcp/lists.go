package mcp

import (
	"github.com/correlator-go/correlator/codec"
)

// listed answers one of the list methods with a page.
func listed[E entry](a *arrival, s *Server, served bool, member string, c *catalog[E]) verdict {
	if !served {
		return refuse(refusedMethod)
	}
	if a.params != nil && !isObject(a.params) && !a.env.Flags.Has(codec.FlagParamsNull) {
		return refuse(refusedParams)
	}
	offset := 0
	if a.p.cursor.Present() {
		cursor, ok := stringOf(a.p.cursor.Of(a.params))
		if ok {
			offset, ok = s.offset(a.method, a.caller, cursor)
		}
		if !ok {
			return refuse(refusedCursor)
		}
	}
	modern := a.revision.IsModern()
	dst := a.openResult(pageRoom(c, a.revision))
	dst = append(dst, '{')
	if modern {
		dst = append(dst, `"resultType":"complete",`...)
	}
	dst = append(append(append(dst, '"'), member...), `":[`...)
	shown, more := 0, false
	for _, e := range c.list {
		if !e.visible(a.caller) {
			continue
		}
		if shown++; shown <= offset {
			continue
		}
		if more = shown > offset+PageSize; more {
			break
		}
		if shown > offset+1 {
			dst = append(dst, ',')
		}
		dst = append(dst, e.listing(a.revision)...)
	}
	dst = append(dst, ']')
	if more {
		dst = appendMember(dst, "nextCursor", s.cursor(a.method, a.caller, offset+PageSize))
	}
	if modern {
		dst = appendCached(dst, s.d.Cache, c.veiled)
		dst = s.appendMeta(dst, nil)
	}
	return verdict{result: append(dst, "}}"...)}
}

// pageRoom is about how many bytes a first page takes.
func pageRoom[E entry](c *catalog[E], r Revision) int {
	n := 0
	for _, e := range c.list[:min(len(c.list), PageSize)] {
		n += len(e.listing(r)) + 1
	}
	return n
}

// openResult begins the frame of an answer, with room for a result of n bytes.
func (a *arrival) openResult(n int) []byte {
	const room = 512 // what stands around it
	rawID := a.env.RawID.Of(a.text)
	dst := make([]byte, 0, n+len(rawID)+room)
	dst = append(dst, `{"jsonrpc":"2.0","id":`...)
	dst = append(dst, rawID...)
	return append(dst, `,"result":`...)
}

// answer makes the frame of an answer.
func (a *arrival) answer(result []byte) []byte {
	return codec.AppendResult(nil, a.env.RawID.Of(a.text), result)
}

// appendCached writes how long a result may be kept, behind another member.
func appendCached(dst []byte, c Cache, veiled bool) []byte {
	dst = append(dst, `,"ttlMs":`...)
	dst = appendNumber(dst, max(c.TTLMillis, 0))
	if c.Public && !veiled {
		return append(dst, `,"cacheScope":"public"`...)
	}
	return append(dst, `,"cacheScope":"private"`...)
}

// appendMeta writes the _meta of a modern result, behind another member: the
// server's name, and the members in more.
func (s *Server) appendMeta(dst, more []byte) []byte {
	dst = append(dst, `,"_meta":{`...)
	dst = append(dst, s.infoMeta...)
	if len(more) > 0 {
		dst = append(append(dst, ','), more...)
	}
	return append(dst, '}')
}

// appendDiscover writes the result of server/discover.
func (s *Server) appendDiscover(dst []byte) []byte {
	dst = append(dst, `{"resultType":"complete","supportedVersions":`...)
	dst = appendRevisions(dst, s.modern)
	dst = append(append(dst, `,"capabilities":`...), s.capsJSON...)
	dst = append(dst, s.common...)
	dst = appendCached(dst, s.d.Cache, s.veiled())
	return append(s.appendMeta(dst, nil), '}')
}

// veiled reports whether what s declares may differ from caller to caller.
func (s *Server) veiled() bool {
	return s.tools.veiled || s.resources.veiled || s.templates.veiled || s.prompts.veiled
}

func appendRevisions(dst []byte, list []Revision) []byte {
	dst = append(dst, '[')
	for i, r := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = codec.AppendString(dst, string(r))
	}
	return append(dst, ']')
}
