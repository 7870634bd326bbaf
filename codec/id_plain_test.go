package codec

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// Ids of every length take one of two ways through the scan; both must agree
// with strconv.
func TestScanIDsOfEveryLength(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for digits := 1; digits <= 20; digits++ {
		for range 200 {
			text := []byte(strconv.Itoa(1 + random.IntN(9)))
			for len(text) < digits {
				text = append(text, byte('0'+random.IntN(10)))
			}
			if digits == 1 {
				text[0] = byte('0' + random.IntN(10))
			}
			want, err := strconv.ParseInt(string(text), 10, 64)
			for _, frame := range []string{
				fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":1}`, text),
				fmt.Sprintf(`{"result":1,"jsonrpc":"2.0","id":%s}`, text),
				fmt.Sprintf(`{"id":%s ,"result":1,"jsonrpc":"2.0"}`, text),
			} {
				var e Envelope
				require.NoError(t, Scan([]byte(frame), &e, ScanOptions{}), frame)
				require.Equal(t, string(text), string(e.RawID.Of([]byte(frame))))
				if err != nil {
					require.Equal(t, IDNumber, e.IDKind, frame)
					continue
				}
				require.Equal(t, IDInt, e.IDKind, frame)
				require.Equal(t, want, e.IntID, frame)
			}
			bad := fmt.Sprintf(`{"jsonrpc":"2.0","id":0%s,"result":1}`, text)
			require.Error(t, Scan([]byte(bad), new(Envelope), ScanOptions{}), bad)
			cut := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s`, text)
			var e Envelope
			require.Error(t, Scan([]byte(cut), &e, ScanOptions{}), cut)
			require.Equal(t, IDAbsent, e.IDKind, "the rest of the digits may be missing")
		}
	}
}
