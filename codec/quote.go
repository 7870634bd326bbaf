package codec

func appendQuoted(dst []byte, s string) []byte { return append(dst, s...) }
func appendUnquoted(dst, raw []byte) []byte    { return append(dst, raw...) }
