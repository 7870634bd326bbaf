package serve_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/serve"
)

// What is sent to a server by peers that exist, or that mean no good. After each of
// them the next request is answered: no line ends the connection.
func TestOddFrames(t *testing.T) {
	deep := strings.Repeat(`{"a":`, 80) + "1" + strings.Repeat("}", 80)
	long := strings.Repeat("x", 3000)
	next := call(`"next"`, "echo", `{"text":"still here"}`)
	for name, c := range map[string]struct {
		lines string
		want  []string // what is answered beside the next request; a part of each line
		stray serve.StrayReason
	}{
		"broken JSON":               {lines: `{"jsonrpc":"2.0","id":1,`, stray: serve.StrayUnreadable, want: []string{`"id":1,"error":{"code":-32700`}},
		"broken before the id":      {lines: `{"jsonrpc":`, stray: serve.StrayUnreadable},
		"banner":                    {lines: `Server started on stdio`, stray: serve.StrayUnreadable},
		"C18 chatter":               {lines: "[debug] {x\n42\n\"ready\"\n{\"level\":\"info\"}", stray: serve.StrayUnreadable},
		"C19 byte order mark":       {lines: "\xef\xbb\xbf" + call("1", "echo", `{"text":"bom"}`), want: []string{`"text":"bom"`}},
		"no jsonrpc":                {lines: `{"id":1,"method":"tools/list"}`, stray: serve.StrayUnreadable, want: []string{`"id":1,"error":{"code":-32600`}},
		"R11 jsonrpc 1.0":           {lines: `{"jsonrpc":"1.0","id":4,"method":"ping"}`, stray: serve.StrayUnreadable, want: []string{`"id":4,"error":{"code":-32600`}},
		"space before the LF":       {lines: call("1", "echo", `{"text":"a"}`) + "  \t", want: []string{`"text":"a"`}},
		"C03 CRLF and blank lines":  {lines: "\r\n\r\n  \n" + call("1", "echo", `{"text":"crlf"}`) + "\r", want: []string{`"text":"crlf"`}},
		"two objects on one line":   {lines: request("1", "server/discover", "") + request("2", "server/discover", ""), stray: serve.StrayUnreadable, want: []string{`"id":1,"error":{"code":-32700`}},
		"pretty-printed":            {lines: "{\n\"jsonrpc\":\"2.0\",\n\"id\":1\n}", stray: serve.StrayUnreadable},
		"C26 id null":               {lines: `{"jsonrpc":"2.0","id":null,"method":"ping"}`, stray: serve.StrayUnreadable},
		"id 1.5":                    {lines: `{"jsonrpc":"2.0","id":1.5,"method":"tools/list"}`, stray: serve.StrayUnreadable},
		"id 1e2":                    {lines: `{"jsonrpc":"2.0","id":1e2,"method":"tools/list"}`, stray: serve.StrayUnreadable},
		"id true":                   {lines: `{"jsonrpc":"2.0","id":true,"method":"tools/list"}`, stray: serve.StrayUnreadable},
		"R13 id false":              {lines: `{"jsonrpc":"2.0","id":false,"method":"ping"}`, stray: serve.StrayUnreadable},
		"id an object":              {lines: `{"jsonrpc":"2.0","id":{},"method":"tools/list"}`, stray: serve.StrayUnreadable},
		"id 2^53+1":                 {lines: call("9007199254740993", "echo", `{}`), want: []string{`"id":9007199254740993,`}},
		"id -1":                     {lines: call("-1", "echo", `{}`), want: []string{`"id":-1,`}},
		"R13 id 0 and empty string": {lines: call("0", "echo", `{}`) + "\n" + call(`""`, "echo", `{}`), want: []string{`"id":0,`, `"id":"",`}},
		"R11 batch":                 {lines: "[" + call("1", "echo", `{}`) + `,{"id":2,"method":"x"},` + cancelled("1") + "]", stray: serve.StrayUnsupported, want: []string{`"id":1,"error":{"code":-32600`, `"id":2,"error":{"code":-32600`}},
		"C17 empty batch":           {lines: "[]", stray: serve.StrayUnsupported},
		"params an array":           {lines: `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":[]}`, want: []string{`"id":1,"error":{"code":-32602`}},
		"R03 params null":           {lines: `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":null}`, want: []string{`"id":1,"error":{"code":-32602`}},
		"legacy before initialize":  {lines: `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, want: []string{`"id":1,"error":`}},
		"a response":                {lines: `{"jsonrpc":"2.0","id":1,"result":{}}`},
		"an error without an id":    {lines: `{"jsonrpc":"2.0","error":{"code":-32600,"message":"x"}}`},
		"R08 unknown notifications": {lines: `{"jsonrpc":"2.0","method":"notifications/xyz"}` + "\n" + `{"jsonrpc":"2.0","method":"foo"}` + "\n" + `{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`},
		"cancel of nothing":         {lines: cancelled("77") + "\n" + cancelled("null") + "\n" + cancelled("{}")},
		"C07 not UTF-8":             {lines: "\xff\xfe", stray: serve.StrayUnreadable},
		"C07 not UTF-8 in a string": {lines: call("1", "echo", "{\"text\":\"\xff\"}"), stray: serve.StrayUnreadable, want: []string{`"id":1,"error":{"code":-32700`}},
		"C05 names in other case":   {lines: `{"jsonrpc":"2.0","id":1,"method":"server/discover","Method":"tools/call","params":{` + meta + `}}`, want: []string{`"id":1,"result"`}},
		"a member twice":            {lines: `{"jsonrpc":"2.0","id":1,"id":2,"method":"tools/list"}`, stray: serve.StrayUnreadable},
		"C01 too long, id first":    {lines: call("1", "echo", fmt.Sprintf(`{"text":%q}`, long)), stray: serve.StrayTooLarge, want: []string{`"id":1,"error":{"code":-32600`}},
		"C01 too long, id last":     {lines: `{"method":"tools/call","params":{"name":"` + long + `"},"jsonrpc":"2.0","id":"z"}`, stray: serve.StrayTooLarge, want: []string{`"id":"z","error":{"code":-32600`}},
		"too long, no id":           {lines: `{"method":"` + long + `"}`, stray: serve.StrayTooLarge},
		"too deep, id first":        {lines: `{"jsonrpc":"2.0","id":1,"method":"x","params":` + deep + `}`, stray: serve.StrayTooDeep, want: []string{`"id":1,"error":{"code":-32600`}},
		"too deep, id last":         {lines: `{"jsonrpc":"2.0","method":"x","params":` + deep + `,"id":5}`, stray: serve.StrayTooDeep, want: []string{`"id":5,"error":{"code":-32600`}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				strays := make(chan serve.StrayReason, 16)
				p := connect(t, newServer(t, newTools(), serve.Options{MaxFrame: 2000, OnStray: func(x serve.Stray) { strays <- x.Reason }}))
				p.send(c.lines, next)
				var all string // answers come in the order in which they are ready
				for range len(c.want) + 1 {
					all += p.receive() + "\n"
				}
				require.Contains(t, all, "still here")
				p.send(strings.Replace(next, "still here", "and no more", 1))
				require.Contains(t, p.receive(), "and no more")
				synctest.Wait()
				for _, want := range c.want {
					require.Contains(t, all, want)
				}
				if c.stray != 0 {
					require.Equal(t, c.stray, <-strays)
				} else {
					require.Empty(t, strays)
				}
				require.NoError(t, p.hangUp())
			})
		})
	}
}

// 1 and "1" are two requests.
func TestIDsInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newTools()
		p := connect(t, newServer(t, f, serve.Options{}))
		p.send(call("1", "stuck", `{}`), call(`"1"`, "stuck", `{}`))
		<-f.entered
		<-f.entered
		close(f.release)
		ids := []string{string(parse(t, p.receive()).ID), string(parse(t, p.receive()).ID)}
		require.ElementsMatch(t, []string{`1`, `"1"`}, ids)
		require.NoError(t, p.hangUp())
	})
}

// An id that is in flight is refused without a word: an answer would end the first
// request at the peer.
func TestDuplicateID(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newTools()
		strays := make(chan serve.StrayReason, 16)
		s := newServer(t, f, serve.Options{MaxFrame: 2000, OnStray: func(x serve.Stray) { strays <- x.Reason }})
		p := connect(t, s)
		p.send(call("1", "stuck", `{}`))
		<-f.entered
		// A good one, a broken one, one that is too long, and one that is too deep.
		p.send(call("1", "echo", `{"text":"second"}`), `{"jsonrpc":"2.0","id":1,"method":1}`,
			call("1", "echo", `{"text":"`+strings.Repeat("x", 3000)+`"}`),
			`{"jsonrpc":"2.0","id":1,"method":"x","params":`+strings.Repeat(`{"a":`, 80)+"1"+strings.Repeat("}", 81))
		p.send(call("2", "echo", `{"text":"between"}`))
		require.Equal(t, "between", parse(t, p.receive()).text(t), "nothing was answered under id 1")
		close(f.release)
		a := parse(t, p.receive())
		require.Equal(t, "1", string(a.ID))
		require.Equal(t, "released", a.text(t))
		// Now it is free.
		p.send(call("1", "echo", `{"text":"again"}`))
		require.Equal(t, "again", parse(t, p.receive()).text(t))
		require.Equal(t, serve.StrayDuplicate, <-strays)
		require.NotZero(t, s.Stats().Duplicates)
		require.NoError(t, p.hangUp())
	})
}

// Frames that nobody could tell an answer to may be answered, if that is wanted.
func TestAnswerUnreadable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := connect(t, newServer(t, newTools(), serve.Options{AnswerUnreadable: true, MaxFrame: 100}))
		for line, code := range map[string]int{
			`Server started`: -32700, `[]`: -32600, `{"jsonrpc":"2.0","id":null,"method":"ping"}`: -32600, `{"x":"` + strings.Repeat("x", 200) + `"}`: -32600,
		} {
			p.send(line)
			a := parse(t, p.receive())
			require.Equal(t, code, a.Error.Code, line)
			require.Empty(t, a.ID, line)
		}
		require.NoError(t, p.hangUp())
	})
}

// R06, R07, R04: the handshake of the older era, in whatever order.
func TestR04HandshakeOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := connect(t, newServer(t, newTools(), serve.Options{}))
		ping := `{"jsonrpc":"2.0","id":%d,"method":"ping"}`
		p.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`, fmt.Sprintf(ping, 1))
		require.JSONEq(t, `{"jsonrpc":"2.0","id":1,"result":{}}`, p.receive())
		p.send(`{"jsonrpc":"2.0","id":2,"method":"initialize"}`)
		require.Equal(t, -32602, parse(t, p.receive()).Error.Code)
		p.send(fmt.Sprintf(hello, "2025-11-25"))
		require.Contains(t, p.receive(), `"protocolVersion":"2025-11-25"`)
		p.send(`{"jsonrpc":"2.0","id":3,"method":"tools/list"}`)
		require.NotEmpty(t, parse(t, p.receive()).Result.Tools, "served before initialized")
		p.send(`{"jsonrpc":"2.0","id":4,"method":"logging/setLevel","params":{"level":"info"}}`, fmt.Sprintf(ping, 5))
		require.JSONEq(t, `{"jsonrpc":"2.0","id":4,"result":{}}`, p.receive())
		require.JSONEq(t, `{"jsonrpc":"2.0","id":5,"result":{}}`, p.receive())
		p.send(fmt.Sprintf(hello, "2025-11-25"))
		require.Equal(t, -32600, parse(t, p.receive()).Error.Code, "a second one")
		require.NoError(t, p.hangUp())
	})
}

// After a handshake a modern request is served as one.
func TestBothErasOnOneConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := connect(t, newServer(t, newTools(), serve.Options{}))
		p.send(fmt.Sprintf(hello, "2025-11-25"), `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
		_ = p.receive()
		p.send(old("1", "echo", `{"text":"old"}`, ""))
		require.NotContains(t, p.receive(), "resultType")
		p.send(call("2", "echo", `{"text":"new"}`))
		require.Equal(t, "complete", parse(t, p.receive()).Result.ResultType)
		require.NoError(t, p.hangUp())
	})
}

// B01: the server's question is answered behind more requests than it takes.
func TestB01AnswerBehindRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newTools()
		p := connect(t, newServer(t, f, serve.Options{MaxLive: 8}))
		p.send(fmt.Sprintf(hello, "2025-11-25"), `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
		_ = p.receive()
		p.send(old("1", "ask", `{}`, ""))
		q := parse(t, p.receive())
		require.Equal(t, "roots/list", q.Method)
		var lines []string
		for i := range 20 {
			lines = append(lines, old(fmt.Sprint(100+i), "stuck", `{}`, ""))
		}
		go p.send(append(lines, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"roots":[]}}`, q.ID))...)
		refused := 0
		for {
			a := parse(t, p.receive())
			if a.Error == nil {
				require.Equal(t, "1", string(a.ID))
				break
			}
			require.Equal(t, -32603, a.Error.Code)
			refused++
		}
		require.Equal(t, 13, refused, "7 places were left")
		close(f.release)
		for range 7 {
			require.Equal(t, "released", parse(t, p.receive()).text(t))
		}
		require.NoError(t, p.hangUp())
	})
}

// A question that nobody answers ends, and is withdrawn.
func TestAskTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := connect(t, newServer(t, newTools(), serve.Options{AskTimeout: time.Minute}))
		p.send(fmt.Sprintf(hello, "2025-11-25"), `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
		_ = p.receive()
		p.send(old("1", "ask", `{}`, ""))
		q := parse(t, p.receive())
		withdrawn := p.receive()
		require.Contains(t, withdrawn, `"method":"notifications/cancelled"`)
		require.Contains(t, withdrawn, `"requestId":`+string(q.ID))
		require.Equal(t, "1", string(parse(t, p.receive()).ID))
		require.NoError(t, p.hangUp())
	})
}

// When the call is cancelled, so is what it asked.
func TestAskWithdrawn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := connect(t, newServer(t, newTools(), serve.Options{}))
		p.send(fmt.Sprintf(hello, "2025-11-25"), `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
		_ = p.receive()
		p.send(old("1", "ask", `{}`, ""))
		q := parse(t, p.receive())
		p.send(cancelled("1"))
		require.Contains(t, p.receive(), `"requestId":`+string(q.ID))
		p.send(old("2", "echo", `{"text":"on"}`, ""))
		require.Equal(t, "on", parse(t, p.receive()).text(t))
		require.NoError(t, p.hangUp())
	})
}

// The one revision that has batches gets them answered as one, within the rules
// for ids.
func TestBatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newTools()
		strays := make(chan serve.Stray, 16)
		s := newServer(t, f, serve.Options{OnStray: func(x serve.Stray) { strays <- x }})
		p := connect(t, s)
		p.send(fmt.Sprintf(hello, "2025-03-26"), `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
		_ = p.receive()
		p.send("[" + old("1", "echo", `{"text":"a"}`, "") + "," + cancelled("7") + "," + old("2", "echo", `{"text":"b"}`, "") + ",1]")
		line := p.receive()
		require.True(t, strings.HasPrefix(line, "["), line)
		require.Contains(t, line, `"text":"a"`)
		require.Contains(t, line, `"text":"b"`)
		require.Contains(t, line, `-32600`)
		p.send("["+cancelled("7")+"]", old("3", "stuck", `{}`, ""))
		<-f.entered
		// One of them is in flight: that one gets no answer, whatever is wrong with it;
		// the others are served.
		p.send("[" + old("3", "echo", `{"text":"twin"}`, "") + "," + old("4", "echo", `{"text":"other"}`, "") + `,{"jsonrpc":"2.0","id":3,"method":1}]`)
		line = p.receive()
		require.True(t, strings.HasPrefix(line, "["), line)
		require.Contains(t, line, `"text":"other"`)
		require.NotContains(t, line, `"id":3`)
		for range 2 {
			require.Equal(t, serve.StrayDuplicate, (<-strays).Reason)
		}
		// The same for an id that a batch has twice, and for one of nothing else.
		p.send("["+old("6", "echo", `{"text":"first"}`, "")+","+old("6", "echo", `{"text":"second"}`, "")+"]", "["+old("3", "echo", `{}`, "")+"]")
		line = p.receive()
		require.Contains(t, line, `"text":"first"`)
		require.NotContains(t, line, `"text":"second"`)
		close(f.release)
		require.Equal(t, "released", parse(t, p.receive()).text(t))
		p.send("[" + strings.Repeat("[", 100) + strings.Repeat("]", 100) + "]")
		p.send(old("5", "echo", `{"text":"on"}`, ""))
		require.Equal(t, "on", parse(t, p.receive()).text(t))
		require.EqualValues(t, 4, s.Stats().Duplicates)
		require.NoError(t, p.hangUp())
	})
}
