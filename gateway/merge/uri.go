package merge

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/gateway/route"
)

// uriPrefix is what a URI is still a URI with: a part of its scheme. It needs no escapes
// in JSON.
var uriPrefix = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]{0,63}$`)

// IsURIPrefix reports whether URIs may be put under prefix: it is a letter and then
// letters, digits, plus signs, points and dashes, 64 of them at most.
func IsURIPrefix(prefix string) bool { return uriPrefix.MatchString(prefix) }

// StripURI takes prefix off the JSON text of a URI that stands at s in a frame: one
// without escapes loses it and no other byte. ok is false where it has none.
func StripURI(frame []byte, s codec.Span, prefix string) (e codec.Edit, ok bool) {
	raw := s.Of(frame)
	uri, ok := route.Text(raw)
	if !ok || !strings.HasPrefix(uri, prefix) {
		return e, false
	}
	if strings.HasPrefix(string(raw[1:]), prefix) {
		from := s.Off + 1
		return codec.Edit{Span: codec.Span{Off: from, End: from + uint32(len(prefix))}}, true
	}
	return codec.Edit{Span: s, Text: codec.AppendString(nil, uri[len(prefix):])}, true
}

// PrefixURIs gives the edits, in order, that put prefix before the URIs of resources in
// the result of a method: in lists of resources and templates, in what was read, and in
// what tools and prompts link to or embed. All other bytes stay.
func PrefixURIs(method string, result []byte, prefix string) []codec.Edit {
	u := &uris{text: []byte(prefix)}
	switch method {
	case "resources/list":
		u.each(result, 0, "resources", func(o []byte, at uint32) { u.member(o, at, "uri") })
	case "resources/templates/list":
		u.each(result, 0, "resourceTemplates", func(o []byte, at uint32) { u.member(o, at, "uriTemplate") })
	case "resources/read":
		u.each(result, 0, "contents", func(o []byte, at uint32) { u.member(o, at, "uri") })
	case "tools/call":
		u.each(result, 0, "content", u.block)
	case "prompts/get":
		u.each(result, 0, "messages", func(o []byte, at uint32) {
			u.inside(o, at, "content", u.block)
			u.each(o, at, "content", u.block)
		})
	}
	slices.SortFunc(u.edits, func(a, b codec.Edit) int { return cmp.Compare(a.Span.Off, b.Span.Off) })
	return u.edits
}

// PrefixURI is PrefixURIs for the member uri of an object: of the params of a notification
// or the data of an error.
func PrefixURI(object []byte, prefix string) []codec.Edit {
	u := &uris{text: []byte(prefix)}
	u.member(object, 0, "uri")
	return u.edits
}

// uris gathers edits. Objects come with where they are in the whole.
type uris struct {
	text  []byte
	edits []codec.Edit
}

// block is one piece of content.
func (u *uris) block(o []byte, at uint32) {
	kind, err := route.Member(o, "type")
	if err != nil {
		return
	}
	switch string(kind.Of(o)) {
	case `"resource_link"`:
		u.member(o, at, "uri")
	case `"resource"`:
		u.inside(o, at, "resource", func(o []byte, at uint32) { u.member(o, at, "uri") })
	}
}

func (u *uris) member(o []byte, at uint32, name string) {
	s, err := route.Member(o, name)
	if err != nil || s.Len() < 2 || o[s.Off] != '"' {
		return
	}
	start := at + s.Off + 1
	u.edits = append(u.edits, codec.Edit{Span: codec.Span{Off: start, End: start}, Text: u.text})
}

// inside visits the object that is a member of o.
func (u *uris) inside(o []byte, at uint32, name string, visit func(o []byte, at uint32)) {
	s, err := route.Member(o, name)
	if err == nil && s.Present() && o[s.Off] == '{' {
		visit(s.Of(o), at+s.Off)
	}
}

// each visits the objects of the array that is a member of o.
func (u *uris) each(o []byte, at uint32, name string, visit func(o []byte, at uint32)) {
	s, err := route.Member(o, name)
	if err != nil || !s.Present() || o[s.Off] != '[' {
		return
	}
	array, pos := s.Of(o), uint32(1)
	for entry, err := range codec.SplitBatch(array, codec.ScanOptions{}) {
		if entry == nil {
			return
		}
		for strings.IndexByte(" \t\r\n,", array[pos]) >= 0 {
			pos++
		}
		if err == nil {
			visit(entry, at+s.Off+pos)
		}
		pos += uint32(len(entry))
	}
}
