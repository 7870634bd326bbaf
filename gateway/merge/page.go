package merge

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"slices"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/gateway/route"
)

// List is a kind of list.
type List struct {
	// Method asks for it, Member is where its entries stand in the result.
	Method, Member string
	// Named says that names of entries are put under prefixes. Resources are told
	// apart by their URIs, which stay as they are.
	Named bool
}

// Lists are all kinds.
var Lists = []List{
	{"tools/list", "tools", true},
	{"prompts/list", "prompts", true},
	{"resources/list", "resources", false},
	{"resources/templates/list", "resourceTemplates", false},
}

// ListOf finds a kind by its method.
func ListOf(method string) (List, bool) {
	i := slices.IndexFunc(Lists, func(l List) bool { return l.Method == method })
	if i < 0 {
		return List{}, false
	}
	return Lists[i], true
}

// Part is what one server has given for a page.
type Part struct {
	// Upstream is its name.
	Upstream string
	// Result is that of the list method, nil if there is none.
	Result []byte
	// Broken says that the server could not be asked.
	Broken bool
}

// MetaUnavailable is the member of a list's _meta that names the upstreams whose
// entries are missing.
const MetaUnavailable = "io.github.correlator-go/unavailable"

// AppendPage appends the result of a list method that is made of parts: their entries
// in order, each as its server wrote it but for the prefix of its name, and a cursor
// if one of them has more. modern adds what results of the modern era must have.
func AppendPage(dst []byte, l List, parts []Part, modern bool) []byte {
	dst = append(append(dst, `{"`...), l.Member...)
	dst = append(dst, `":[`...)
	var more []Place
	var broken []string
	first := true
	for _, p := range parts {
		if p.Broken {
			broken = append(broken, p.Upstream)
			continue
		}
		spans, err := route.Members(p.Result, l.Member, "nextCursor")
		if err != nil {
			broken = append(broken, p.Upstream)
			continue
		}
		for entry := range entries(spans[0].Of(p.Result)) {
			if !first {
				dst = append(dst, ',')
			}
			first = false
			dst = appendEntry(dst, entry, p.Upstream, l.Named)
		}
		if next, ok := route.Text(spans[1].Of(p.Result)); ok {
			more = append(more, Place{p.Upstream, next})
		}
	}
	dst = append(dst, ']')
	if len(more) > 0 {
		dst = append(dst, `,"nextCursor":"`...)
		dst = append(append(dst, Cursor(more)...), '"')
	}
	if modern {
		dst = append(dst, `,"resultType":"complete","ttlMs":0,"cacheScope":"private"`...)
	}
	if len(broken) > 0 {
		if names, err := codec.AppendValue(nil, broken); err == nil {
			dst = append(append(append(dst, `,"_meta":{"`+MetaUnavailable+`":`...), names...), '}')
		}
	}
	return append(dst, '}')
}

// entries yields the objects of an array.
func entries(array []byte) func(yield func([]byte) bool) {
	return func(yield func([]byte) bool) {
		if len(array) == 0 {
			return
		}
		for entry, err := range codec.SplitBatch(array, codec.ScanOptions{}) {
			if err == nil && !yield(entry) {
				return
			}
		}
	}
}

// Filter is a list's result with those entries that keep wants, and its cursor.
func Filter(l List, result []byte, keep func(entry []byte) bool) []byte {
	spans, err := route.Members(result, l.Member, "nextCursor")
	if err != nil {
		return result
	}
	out := append(append([]byte(`{"`), l.Member...), `":[`...)
	start := len(out)
	for entry := range entries(spans[0].Of(result)) {
		if keep(entry) {
			if len(out) > start {
				out = append(out, ',')
			}
			out = append(out, entry...)
		}
	}
	out = append(out, ']')
	if spans[1].Present() {
		out = append(append(out, `,"nextCursor":`...), spans[1].Of(result)...)
	}
	return append(out, '}')
}

func appendEntry(dst, entry []byte, upstream string, named bool) []byte {
	s, err := route.Member(entry, "name")
	if !named || err != nil || s.Len() < 2 || entry[s.Off] != '"' {
		return append(dst, entry...)
	}
	prefix := codec.AppendString(nil, upstream+Separator)
	at := codec.Span{Off: s.Off + 1, End: s.Off + 1}
	return codec.AppendSplice(dst, entry, codec.Edit{Span: at, Text: prefix[1 : len(prefix)-1]})
}

// URIs yields the resource URIs, or the URI templates, of a list's result.
func URIs(l List, result []byte) []string {
	member := "uri"
	if l.Member == "resourceTemplates" {
		member = "uriTemplate"
	}
	array, err := route.Member(result, l.Member)
	if err != nil {
		return nil
	}
	var out []string
	for entry := range entries(array.Of(result)) {
		if s, err := route.Member(entry, member); err == nil {
			if uri, ok := route.Text(s.Of(entry)); ok {
				out = append(out, uri)
			}
		}
	}
	return out
}

// Next is the cursor of a list's result, as its server wrote it; ok is false where
// there is no more.
func Next(result []byte) (cursor string, ok bool) {
	s, err := route.Member(result, "nextCursor")
	if err != nil {
		return "", false
	}
	return route.Text(s.Of(result))
}

// Place is where one server's list goes on.
type Place struct {
	// Upstream is the server's name, Cursor its own, as it wrote it.
	Upstream, Cursor string
}

// ErrCursor: a cursor is none of ours.
var ErrCursor = errors.New("merge: not a cursor of this list")

// Cursor makes one cursor of the places of several servers. It needs no escapes in JSON.
func Cursor(places []Place) string {
	pairs := make([][2]string, len(places))
	for i, p := range places {
		pairs[i] = [2]string{p.Upstream, p.Cursor}
	}
	text, err := json.Marshal(pairs)
	if err != nil {
		return "" // it cannot be: strings only
	}
	return base64.RawURLEncoding.EncodeToString(text)
}

// Places takes a cursor apart. The error is ErrCursor.
func Places(cursor string) ([]Place, error) {
	text, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil {
		return nil, ErrCursor
	}
	var pairs [][2]string
	if json.Unmarshal(text, &pairs) != nil || len(pairs) == 0 {
		return nil, ErrCursor
	}
	out := make([]Place, len(pairs))
	for i, p := range pairs {
		out[i] = Place{p[0], p[1]}
	}
	return out, nil
}
