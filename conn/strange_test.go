package conn_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/conn"
)

// TestClientSurvivesOddFrames sends, while a call is pending, every odd frame
// that real peers were seen to choke on. What befalls the call is in the table;
// that another call completes afterwards and that the link stays up holds for
// all of them.
func TestClientSurvivesOddFrames(t *testing.T) {
	ok := reply{result: `"ok"`}
	for _, test := range []struct {
		name string
		odd  func(id string) string // sent first
		ends any                    // of the call: a reply, an error, its text, or nil if its good answer counts
	}{
		{"error without id", func(string) string { return `{"jsonrpc":"2.0","error":{"code":-32600,"message":"x"}}` }, nil},
		{"error with null id", func(string) string { return `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"x"}}` }, nil},
		{"result with null id", func(string) string { return `{"jsonrpc":"2.0","id":null,"result":1}` }, nil},
		{"broken JSON", func(id string) string { return `{"jsonrpc":"2.0","id":` }, nil},
		{"banner", func(string) string { return "Server listening on stdio" }, nil},
		{"blank lines and CRLF", func(string) string { return "\r\n\n\r" }, nil},
		{"unknown id", func(string) string { return `{"jsonrpc":"2.0","id":4242,"result":1}` }, nil},
		{"unknown string id", func(string) string { return `{"jsonrpc":"2.0","id":"x","result":1}` }, nil},
		{"second response", func(id string) string { return resultFor([]byte(id), `"ok"`) + "\n" + resultFor([]byte(id), "2") }, ok},
		{"id as a string", func(id string) string { return resultFor([]byte(`"`+id+`"`), "1") }, nil},
		{"id as a fraction", func(id string) string { return resultFor([]byte(id+".0"), "1") }, nil},
		{"id with an exponent", func(id string) string { return resultFor([]byte(id+"e0"), "1") }, nil},
		{"result and error together", func(id string) string {
			return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":1,"error":{"code":7,"message":"wins"}}`, id)
		}, &codec.Error{Code: 7}},
		{"neither result nor error", func(id string) string { return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s}`, id) }, conn.ErrInvalidAnswer},
		{"error null beside a result", func(id string) string {
			return fmt.Sprintf(`{"id":%s,"error":null,"result":"ok"}`, id)
		}, ok},
		{"id last, odd order", func(id string) string { return fmt.Sprintf(`{"result":"ok","jsonrpc":"2.0","id":%s}`, id) }, ok},
		{"batch", func(id string) string { return "[" + resultFor([]byte(id), "1") + "]" }, nil},
		{"empty batch", func(string) string { return "[]" }, nil},
		{"two objects on one line", func(id string) string { return resultFor([]byte(id), `"ok"`) + "{}" }, conn.ErrInvalidAnswer},
		{"falling progress", func(id string) string { return progressFor([]byte(id), 5) + "\n" + progressFor([]byte(id), 3) }, nil},
		{"progress under an unknown token", func(string) string { return progressFor([]byte(`"none"`), 1) }, nil},
		{"progress without a token", func(string) string { return `{"jsonrpc":"2.0","method":"notifications/progress","params":{}}` }, nil},
		{"cancel of our own call", func(id string) string {
			return fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%s}}`, id)
		}, nil},
		{"notification before the answer", func(string) string { return `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}` }, nil},
		{"notification of a foreign subscription", func(string) string {
			return `{"jsonrpc":"2.0","method":"n","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":"s"}}}`
		}, nil},
		{"invalid UTF-8 in the answer", func(id string) string { return resultFor([]byte(id), "\"\xff\"") }, conn.ErrInvalidAnswer},
		{"wrong version", func(id string) string { return fmt.Sprintf(`{"jsonrpc":"1.0","id":%s,"result":1}`, id) }, conn.ErrInvalidAnswer},
		{"string error", func(id string) string { return errorFor([]byte(id), `"plain"`) }, "plain"},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, p := connect(t, conn.Options{})
				done := call(background, c, "m", "", conn.CallOptions{Progress: func(conn.Progress) {}})
				m := p.read()
				p.send(test.odd(string(m.ID)))
				synctest.Wait()
				switch want := test.ends.(type) {
				case nil:
					require.Empty(t, done)
					p.result(m, `"ok"`)
					require.Equal(t, ok, <-done)
				case reply:
					require.Equal(t, want, <-done)
				case string:
					require.EqualError(t, (<-done).err, want)
				case error:
					require.ErrorIs(t, (<-done).err, want)
				}
				requireWorks(t, c, p)
				require.NoError(t, c.Err())
			})
		})
	}
}

func TestServerRequestIsAnsweredInEitherEra(t *testing.T) {
	c, p := connect(t, conn.Options{})
	done := call(background, c, "m", "", conn.CallOptions{})
	m := p.read()
	// The server counts its ids by itself: one of them may be that of our call.
	p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"ping"}`, m.ID))
	require.Equal(t, `{"jsonrpc":"2.0","id":`+string(m.ID)+`,"result":{}}`, p.line())
	p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"roots/list"}`, m.ID))
	require.Equal(t, codec.CodeMethodNotFound, p.read().Error.Code)
	p.result(m, "1")
	require.Equal(t, reply{"1", nil}, <-done)
}

func TestPeerThatEchoesOurLines(t *testing.T) {
	// A terminal in the middle sends everything back, requests included.
	synctest.Test(t, func(t *testing.T) {
		c, p := connect(t, conn.Options{})
		done := call(background, c, "m", "", conn.CallOptions{Timeout: time.Second})
		p.send(p.line()) // our request: refused, it is no method of ours
		p.send(p.line()) // our refusal: it ends our call
		require.ErrorIs(t, (<-done).err, &codec.Error{Code: codec.CodeMethodNotFound})
		requireWorks(t, c, p)
	})
}

func TestListenIsEndedByItsServer(t *testing.T) {
	c, p := connect(t, conn.Options{})
	var notes []string
	listen := call(background, c, "subscriptions/listen", `{"notifications":{}}`, conn.CallOptions{
		Timeout: conn.NoTimeout, Subscription: func(n conn.Notification) { notes = append(notes, n.Method) },
	})
	m := p.read()
	meta := fmt.Sprintf(`"_meta":{"io.modelcontextprotocol/subscriptionId":%s}`, m.ID)
	p.send(
		`{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{`+meta+`}}`,
		`{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{`+meta+`}}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":`+string(m.ID)+`}}`,
		resultFor(m.ID, `{}`), // some servers send both, in any order
		`{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{`+meta+`}}`,
	)
	r := <-listen
	require.ErrorIs(t, r.err, conn.ErrSubscriptionEnded)
	require.Equal(t, []string{"notifications/subscriptions/acknowledged", "notifications/tools/list_changed"}, notes)
	requireWorks(t, c, p)
	require.Zero(t, c.Stats().CancelsOut)
	require.EqualValues(t, 1, c.Stats().NotesDropped)
}
