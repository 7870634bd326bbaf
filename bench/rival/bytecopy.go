package rival

import (
	"io"
	"sync"
)

// copyChunk is how much ByteCopy reads at once.
const copyChunk = 64 << 10

// ByteCopy is the floor of a proxy: what one side has sent is read at once and written
// to the other in one piece, without a look at it. It returns when either side has
// ended, and closes both.
func ByteCopy(a, b io.ReadWriteCloser) {
	var both sync.WaitGroup
	pass := func(to, from io.ReadWriteCloser) {
		defer func() {
			_ = to.Close()
			_ = from.Close()
		}()
		// Both without ReadFrom and WriteTo: sockets would leave the copy to the kernel.
		_, _ = io.CopyBuffer(struct{ io.Writer }{to}, struct{ io.Reader }{from}, make([]byte, copyChunk))
	}
	both.Go(func() { pass(a, b) })
	pass(b, a)
	both.Wait()
}
