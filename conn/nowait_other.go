//go:build !unix

package conn

// socketWriter gives nil: here the writer's goroutine writes everything.
func socketWriter(any) TryWriter { return nil }
