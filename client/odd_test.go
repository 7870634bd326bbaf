package client_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/client"
	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/conn"
	"github.com/correlator-go/correlator/mcp"
)

// What real clients die of or hang on. The odd frames come before the good answer;
// whatever becomes of the call, the link lives and the next call is answered. Over
// HTTP a response belongs to one request: ids are not compared, so the first answer
// counts, and a frame that cannot be read fails that request alone.
func TestOddFrames(t *testing.T) {
	const good = "good" // the good answer counts
	odd := errors.New("odd")
	badCall := &codec.Error{Code: 7}
	for _, c := range []struct {
		name         string
		frames       string  // a frame a line; ID is the call's id, TOKEN its progress token
		stream, http any     // good, the text of another result, or an error
		progress     float64 // the last that is told; 0 is none
	}{
		{"error without an id", `{"jsonrpc":"2.0","error":{"code":7,"message":"x"}}`, good, badCall, 0},
		{"error with a null id", `{"jsonrpc":"2.0","id":null,"error":{"code":7,"message":"x"}}`, good, badCall, 0},
		{"broken JSON", `{"jsonrpc":"2.0","id":`, good, conn.ErrInvalidAnswer, 0},
		{"banner", `Server listening on stdio`, good, conn.ErrInvalidAnswer, 0},
		{"unknown id", `{"jsonrpc":"2.0","id":4242,"result":{"other":1}}`, good, `{"other":1}`, 0},
		{"second response", `{"jsonrpc":"2.0","id":ID,"result":{"first":1}}`, `{"first":1}`, `{"first":1}`, 0},
		{"id as a string", `{"jsonrpc":"2.0","id":"ID","result":{"text":1}}`, good, `{"text":1}`, 0},
		{"id as a fraction", `{"jsonrpc":"2.0","id":ID.0,"result":{"fraction":1}}`, good, conn.ErrInvalidAnswer, 0},
		{"result and error together", `{"jsonrpc":"2.0","id":ID,"result":{},"error":{"code":7,"message":"x"}}`, badCall, badCall, 0},
		{"neither result nor error", `{"jsonrpc":"2.0","id":ID}`, conn.ErrInvalidAnswer, odd, 0},
		{"falling progress", progressNote("TOKEN", 5) + "\n" + progressNote("TOKEN", 3) + "\n" + progressNote("TOKEN", 6), good, good, 6},
		{"progress of an unknown token", progressNote(`"never"`, 5) + "\n" + progressNote("999999", 5), good, good, 0},
		{"request of the server", `{"jsonrpc":"2.0","id":ID,"method":"ping"}` + "\n" + `{"jsonrpc":"2.0","id":"x","method":"roots/list"}`, good, good, 0},
		{"cancel of the call", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":ID}}`, good, good, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := modern(func(m message) []string {
				if m.Method != "odd" {
					if len(m.ID) == 0 || m.Method == "" {
						return nil
					}
					return []string{`{"jsonrpc":"2.0","id":ID,"result":{"next":1}}`}
				}
				var p struct {
					Meta struct {
						Token json.RawMessage `json:"progressToken"`
					} `json:"_meta"`
				}
				if codec.DecodeValue(m.Params, &p) != nil {
					return nil
				}
				lines := strings.Split(strings.ReplaceAll(c.frames, "TOKEN", string(p.Meta.Token)), "\n")
				// A comment of a kind: over HTTP two frames at least make it events.
				lines = append([]string{`{"jsonrpc":"2.0","method":"notifications/own"}`}, lines...)
				return append(lines, `{"jsonrpc":"2.0","id":ID,"result":{"good":1}}`)
			})
			for _, w := range scriptedWays {
				t.Run(w.name, func(t *testing.T) {
					want := c.stream
					if w.name == "HTTP" {
						want = c.http
					}
					cl, err := client.Connect(t.Context(), w.open(t, s), client.Options{Eras: &client.Eras{}})
					require.NoError(t, err)
					defer cl.Close()
					var heard []float64
					text, err := cl.Call(t.Context(), "odd", nil, client.CallOptions{Progress: func(p mcp.Progress) { heard = append(heard, p.Value) }})
					switch {
					case want == good:
						require.NoError(t, err)
						require.Equal(t, `{"good":1}`, string(text))
					case want == odd:
						require.Error(t, err)
					default:
						if want, ok := want.(error); ok {
							require.ErrorIs(t, err, want)
							break
						}
						require.NoError(t, err)
						require.Equal(t, want, string(text))
					}
					if c.progress == 0 {
						require.Empty(t, heard)
					} else { // the latest of what comes at once stands for all of it
						require.Equal(t, c.progress, heard[len(heard)-1])
						require.IsIncreasing(t, append([]float64{0}, heard...))
					}
					text, err = cl.Call(t.Context(), "next", nil, client.CallOptions{})
					require.NoError(t, err)
					require.Equal(t, `{"next":1}`, string(text))
					require.NoError(t, cl.Err())
				})
			}
		})
	}
}

func progressNote(token string, value int) string {
	return `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":` + token + `,"progress":` + string(rune('0'+value)) + `}}`
}
