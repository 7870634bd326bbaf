package codec

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/internal/invariants"
)

func TestAppendCompact(t *testing.T) {
	for _, c := range []struct{ name, frame, want string }{
		{"pretty", "{\n  \"a\": [1,\r\n\t2],\n  \"b\": \"x y\\n\"\n}\n", `{"a":[1,2],"b":"x y\n"}`},
		{"compact already", `{"a":[1,2]}`, `{"a":[1,2]}`},
		{"escaped quotes", `{ "a\"b" : "c\\" , "\\\\" : "\\\"" }`, `{"a\"b":"c\\","\\\\":"\\\""}`},
		{"space in strings stays", `[ " ; : , " ]`, `[" ; : , "]`},
		{"only space", " \n", ``},
		{"nothing", ``, ``},
		{"open string is copied", `{"a": "b c`, `{"a":"b c`},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, ">"+c.want, string(AppendCompact([]byte(">"), []byte(c.frame))))
		})
	}
}

func TestAppendCompactDoesNotAllocate(t *testing.T) {
	if invariants.Race || invariants.Enabled {
		t.Skip("the instrumentation allocates")
	}
	frame, dst := []byte("{\n \"a\" : \"b\\\"\" }\n"), make([]byte, 0, 64)
	require.Zero(t, testing.AllocsPerRun(100, func() { dst = AppendCompact(dst[:0], frame) }))
}

func TestIndexByteInParts(t *testing.T) {
	b := bytes.Repeat([]byte("x"), 1<<20)
	require.Equal(t, -1, indexByte(b, '"'))
	require.Equal(t, -1, indexByte(nil, '"'))
	for _, at := range []int{0, 1, 256<<10 - 1, 256 << 10, 256<<10 + 1, 1<<20 - 1} {
		b[at] = '"'
		require.Equal(t, at, indexByte(b, '"'))
		b[at] = 'x'
	}
}
