package conn_test

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/conn"
)

// marked is a framer of a user's: lines that begin with a mark of one byte, which
// says how they were written.
type marked struct{ codec.LineFramer }

func (f marked) Cut(data []byte, scanned int, atEOF bool, maxFrame int) (codec.Cut, error) {
	cut, err := f.LineFramer.Cut(data, scanned, atEOF, maxFrame+1)
	if cut.Start < cut.End {
		cut.Start++
	}
	return cut, err
}

func (marked) Open(dst []byte) []byte { return append(dst, '-') }

var errTooOdd = errors.New("a method that this framer does not write")

// AppendRequest writes its own mark, fails for one method, and what it has written
// of that by then must not be seen.
func (f marked) AppendRequest(dst []byte, id codec.ID, method string, params []byte) ([]byte, error) {
	framed, err := f.LineFramer.AppendRequest(append(dst, '+'), id, method, params)
	if method == "odd" {
		return framed, errTooOdd
	}
	return framed, err
}

// A framer that writes requests in one go is asked for every request, whichever way
// it is made, and for nothing else.
func TestRequestFramerWritesRequests(t *testing.T) {
	c, p := connect(t, conn.Options{Framer: marked{}, Handler: echoes})
	long := `"` + strings.Repeat("x", 20_000) + `"` // such are lent, with the codec's own framers
	ended := make(chan error, 8)
	notify := func(o conn.Outcome) { ended <- o.Err }
	ask := map[string]func() error{
		"Call": func() error {
			go func() {
				_, err := c.Call(background, "m", []byte(long), conn.CallOptions{})
				ended <- err
			}()
			return nil
		},
		"with progress": func() error {
			_, err := c.Start(background, "m", []byte(`{}`), conn.CallOptions{Progress: func(conn.Progress) {}}, notify)
			return err
		},
		"Submit": func() error {
			_, err := c.Submit(background, []conn.Request{{Method: "m", Params: []byte(`{}`), Notify: notify}})
			return err
		},
	}
	for name, ask := range ask {
		require.NoError(t, ask(), name)
		line := p.line()
		require.Equal(t, byte('+'), line[0], name)
		require.Contains(t, line, `"method":"m"`, name)
		_, rest, _ := strings.Cut(line, `"id":`)
		id, _, _ := strings.Cut(rest, ",")
		_, err := io.WriteString(p.link, "?"+resultFor([]byte(id), "1")+"\n")
		require.NoError(t, err)
		require.NoError(t, <-ended, name)
	}
	_, err := c.Call(background, "odd", nil, conn.CallOptions{})
	require.ErrorIs(t, err, errTooOdd)
	sent, known := conn.Sent(err)
	require.True(t, known && !sent)
	noted := make(chan error, 1)
	go func() { noted <- c.Notify(background, "n", nil) }()
	require.Equal(t, `-{"jsonrpc":"2.0","method":"n"}`, p.line(), "and nothing of the odd one")
	require.NoError(t, <-noted)
	_, err = io.WriteString(p.link, `?{"jsonrpc":"2.0","id":1,"method":"m","params":[1]}`+"\n")
	require.NoError(t, err)
	require.Equal(t, `-{"jsonrpc":"2.0","id":1,"result":[1]}`, p.line())
}
