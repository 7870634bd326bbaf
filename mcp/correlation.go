package mcp

// Correlation is the value by which the traces of one request are found again: the
// transport's, else that of _meta, else one made from the connection's seed and
// the exchange. It is never used to decide anything. The zero value is "".
type Correlation struct {
	given  string
	hi, lo uint64
}

// String is the value: 1 to 128 visible ASCII bytes, 32 hexadecimal digits if it
// was made here. It allocates for one that was.
func (c Correlation) String() string {
	if c.given != "" || c.hi|c.lo == 0 {
		return c.given
	}
	var b [32]byte
	return string(appendHex(appendHex(b[:0], c.hi), c.lo))
}

func appendHex(dst []byte, n uint64) []byte {
	for shift := 60; shift >= 0; shift -= 4 {
		dst = append(dst, "0123456789abcdef"[n>>shift&15])
	}
	return dst
}

// maxVisible is the longest correlation value and idempotency key.
const maxVisible = 128

// isVisible reports whether s is 1 to 128 bytes of visible ASCII.
func isVisible[T string | []byte](s T) bool {
	if len(s) == 0 || len(s) > maxVisible {
		return false
	}
	for i := range len(s) {
		if s[i] <= ' ' || s[i] >= 0x7f {
			return false
		}
	}
	return true
}

// madeFrom mixes seed and exchange into a value that no other exchange has: for
// one seed each half is a bijection of the exchange.
func madeFrom(seed Seed, exchange ExchangeID) Correlation {
	return Correlation{hi: mix(seed[0] + uint64(exchange)), lo: mix(seed[1]^uint64(exchange)) | 1}
}

// mix is the finalizer of splitmix64.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
