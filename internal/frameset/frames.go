package frameset

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"unicode/utf8"
)

type maker struct{ *rand.Rand }

const mebibyte = 1 << 20

func (m maker) frame(s Shape) []byte {
	switch s {
	case Response:
		return m.response()
	case Request:
		return m.request()
	case Text:
		return m.result(m.textResult(nil, 900+m.IntN(220)))
	case Nested:
		return m.result(m.objects(nil, 16<<10+m.IntN(800)))
	case Base64:
		return m.result(m.wrapped(m.base64))
	case Prose:
		return m.result(m.wrapped(m.prose))
	case Wide:
		return m.result(m.wrapped(m.wide))
	case Objects:
		return m.result(m.objects(nil, mebibyte))
	}
	panic("frameset: unknown shape " + s.String())
}

// id has the digits of a busy connection: mostly four to six.
func (m maker) id() int64 { return 1 + m.Int64N([]int64{100, 1e4, 1e5, 1e6}[m.IntN(4)]) }

// response is a short answer: an acknowledgement, a number, a small object.
func (m maker) response() []byte {
	short := []string{`{}`, `true`, `null`, `"ok"`, `{"n":1}`, `[1,2]`, `42`, `-7`, `0.5`}
	return m.result([]byte(short[m.IntN(len(short))]))
}

func (m maker) result(body []byte) []byte {
	dst := make([]byte, 0, len(body)+48)
	if m.IntN(8) == 0 { // some peers write the id last
		dst = append(dst, `{"jsonrpc":"2.0","result":`...)
		dst = append(dst, body...)
		dst = append(dst, `,"id":`...)
		dst = strconv.AppendInt(dst, m.id(), 10)
		return append(dst, '}')
	}
	dst = append(dst, `{"jsonrpc":"2.0","id":`...)
	dst = strconv.AppendInt(dst, m.id(), 10)
	dst = append(dst, `,"result":`...)
	dst = append(dst, body...)
	return append(dst, '}')
}

var (
	tools = []string{"search_files", "read_file", "run_query", "get_issue", "list_events", "fetch_page"}
	words = []string{"the", "a", "of", "request", "server", "value", "index", "when", "result", "is", "and",
		"config", "returns", "found", "line", "user", "state", "not", "error", "time", "with", "to", "in", "pending"}
	keys = []string{"name", "title", "path", "kind", "score", "updatedAt", "tags", "ok", "count", "owner", "ref", "url"}
)

// request is a tools/call with a handful of arguments and a progress token.
func (m maker) request() []byte {
	id := m.id()
	dst := fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":{`, id, tools[m.IntN(len(tools))])
	dst = fmt.Appendf(dst, `"query":"%s %s %s","path":"/srv/data/%d/%s","include":"**/*.%s"`,
		m.word(), m.word(), m.word(), m.IntN(1e4), m.word(), m.word())
	dst = fmt.Appendf(dst, `,"limit":%d,"offset":%d,"recursive":%t`, m.IntN(500), m.IntN(1e5), m.IntN(2) == 0)
	if m.IntN(2) == 0 {
		dst = fmt.Appendf(dst, `,"minScore":%.3f`, m.Float64())
	} else {
		dst = fmt.Appendf(dst, `,"since":%d`, 1_700_000_000_000+m.Int64N(1e10))
	}
	dst = fmt.Appendf(dst, `,"tags":[%q,%q]},"_meta":{"progressToken":`, m.word(), m.word())
	if m.IntN(4) == 0 {
		dst = fmt.Appendf(dst, `"tok-%d"`, id)
	} else {
		dst = fmt.Appendf(dst, `%d`, id)
	}
	return append(dst, `}}}`...)
}

func (m maker) word() string { return words[m.IntN(len(words))] }

func (m maker) textResult(dst []byte, n int) []byte {
	dst = append(dst, `{"content":[{"type":"text","text":"`...)
	dst = m.text(dst, n)
	return append(dst, `"}],"isError":false}`...)
}

// text is what tools answer: lines of words, now and then a quoted one, a tab or
// a letter beyond ASCII.
func (m maker) text(dst []byte, n int) []byte {
	for end, line := len(dst)+n, 0; len(dst) < end; {
		switch m.IntN(48) {
		case 0:
			dst = fmt.Appendf(dst, `\"%s\" `, m.word())
		case 1:
			dst = append(dst, "naïve – "...)
		case 2:
			dst = append(dst, `\t`...)
		default:
			dst = append(append(dst, m.word()...), ' ')
		}
		if len(dst)-line > 60+m.IntN(60) {
			dst, line = append(dst, `\n`...), len(dst)
		}
	}
	return dst
}

// objects is a list of records, some with lists and objects inside, in about n
// bytes.
func (m maker) objects(dst []byte, n int) []byte {
	dst = append(dst, `{"items":[`...)
	for end := len(dst) + n; ; {
		dst = m.object(dst, 0)
		if len(dst) >= end {
			break
		}
		dst = append(dst, ',')
	}
	return append(dst, `],"nextCursor":null}`...)
}

func (m maker) object(dst []byte, depth int) []byte {
	dst = append(dst, '{')
	for i, n := 0, 3+m.IntN(6); i < n; i++ {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = fmt.Appendf(dst, `"%s%d":`, keys[m.IntN(len(keys))], i)
		dst = m.value(dst, depth)
	}
	return append(dst, '}')
}

func (m maker) value(dst []byte, depth int) []byte {
	kind := m.IntN(12)
	if depth > 3 && kind < 3 {
		kind += 4
	}
	switch kind {
	case 0, 1:
		return m.object(dst, depth+1)
	case 2:
		dst = append(dst, '[')
		for i, n := 0, m.IntN(4); i <= n; i++ {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = m.value(dst, depth+1)
		}
		return append(dst, ']')
	case 3:
		return append(dst, []string{"true", "false", "null"}[m.IntN(3)]...)
	case 4, 5:
		return strconv.AppendInt(dst, m.Int64N(1e6)-1000, 10)
	case 6:
		return strconv.AppendFloat(dst, m.Float64()*1000, 'f', m.IntN(4), 64)
	case 7:
		return strconv.AppendInt(dst, 1_700_000_000_000+m.Int64N(1e10), 10)
	case 8:
		return fmt.Appendf(dst, `"2026-%02d-%02dT%02d:%02d:00Z"`, 1+m.IntN(12), 1+m.IntN(28), m.IntN(24), m.IntN(60))
	case 9:
		return fmt.Appendf(dst, `"%s %s %s"`, m.word(), m.word(), m.word())
	}
	return fmt.Appendf(dst, `"%s"`, m.word())
}

func (m maker) wrapped(fill func([]byte, int) []byte) []byte {
	dst := append(make([]byte, 0, mebibyte+512), `{"content":[{"type":"text","text":"`...)
	return append(fill(dst, mebibyte), `"}]}`...)
}

func (m maker) base64(dst []byte, n int) []byte {
	const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
	for range n {
		dst = append(dst, digits[m.IntN(64)])
	}
	return dst
}

func (m maker) prose(dst []byte, n int) []byte {
	for end, line := len(dst)+n, len(dst); len(dst) < end; {
		dst = append(append(dst, m.word()...), ' ')
		if len(dst)-line >= 90 {
			dst, line = append(dst, `\n`...), len(dst)
		}
	}
	return dst
}

// wide writes words of one script each: Chinese of three bytes a letter, or
// Cyrillic of two with a space behind.
func (m maker) wide(dst []byte, n int) []byte {
	for end := len(dst) + n; len(dst) < end; {
		chinese := m.IntN(2) == 0
		for range 2 + m.IntN(8) {
			if chinese {
				dst = utf8.AppendRune(dst, rune(0x4E00+m.IntN(0x5000)))
			} else {
				dst = utf8.AppendRune(dst, rune(0x0430+m.IntN(32)))
			}
		}
		if !chinese {
			dst = append(dst, ' ')
		}
	}
	return dst
}
