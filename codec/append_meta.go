package codec

// AppendParamsWithMeta appends params to dst with members as the first members of
// their _meta, which is inserted where it is missing. members is the JSON text of
// an object's inside, such as `"a":1,"b":2`; it is written as it is, and a member
// that _meta has already then stands twice, which is for the caller to rule out.
// All other bytes are as they were. Params that are nil, empty or null, and a
// _meta that is null, count as missing. dst must not overlap params.
//
// Errors are those of [AppendParamsWithToken].
func AppendParamsWithMeta(dst, params, members []byte) ([]byte, error) {
	var (
		e Envelope
		s = scanner{e: &e, maxDepth: DefaultMaxDepth}
	)
	start := s.space(params, 0)
	if start == len(params) || nullOnly(params[start:]) {
		dst = append(append(dst, "{"+metaKey+"{"...), members...)
		return append(dst, "}}"...), nil
	}
	meta, end, err := s.member(params, start, "_meta")
	if err == nil && s.space(params, end) < len(params) {
		err = newSyntaxError(errTrailing, end)
	}
	if err != nil {
		return dst, err
	}
	switch {
	case !meta.Present():
		text := append(append([]byte(metaKey+"{"), members...), '}')
		return insertMember(dst, params, start, text), nil
	case nullOnly(meta.Of(params)):
		text := append(append([]byte("{"), members...), '}')
		return AppendSplice(dst, params, Edit{meta, text}), nil
	}
	if _, _, err := s.member(params, int(meta.Off), ""); err != nil {
		return dst, err
	}
	return insertMember(dst, params, int(meta.Off), members), nil
}
