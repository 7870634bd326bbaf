package mcp

import (
	"encoding/base64"
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"
)

// A token has one text, and is good for what it was made for.
func TestSeal(t *testing.T) {
	s, err := NewServer(Description{Info: Implementation{Name: "a", Version: "1"}, Key: []byte("0123456789abcdef")})
	require.NoError(t, err)
	token := s.seal([]byte("payload"), "family", "ann", []byte("digest"))
	payload, ok := s.unseal([]byte(token), "family", "ann", []byte("digest"))
	require.True(t, ok)
	require.Equal(t, "payload", string(payload))
	for name, open := range map[string]func() ([]byte, bool){
		"another family": func() ([]byte, bool) { return s.unseal([]byte(token), "familya", "nn", []byte("digest")) },
		"another caller": func() ([]byte, bool) { return s.unseal([]byte(token), "family", "eve", []byte("digest")) },
		"another digest": func() ([]byte, bool) { return s.unseal([]byte(token), "family", "ann", nil) },
		"padding":        func() ([]byte, bool) { return s.unseal([]byte(token+"="), "family", "ann", []byte("digest")) },
		"a newline":      func() ([]byte, bool) { return s.unseal([]byte(token+"\n"), "family", "ann", []byte("digest")) },
		"nothing":        func() ([]byte, bool) { return s.unseal(nil, "family", "ann", nil) },
		"short":          func() ([]byte, bool) { return s.unseal([]byte("AAAA"), "family", "ann", nil) },
	} {
		_, ok := open()
		require.False(t, ok, name)
	}
}

// An offset that our own key vouches for is bounded all the same.
func TestOffsetIsBounded(t *testing.T) {
	s, err := NewServer(Description{Info: Implementation{Name: "a", Version: "1"}})
	require.NoError(t, err)
	for offset, want := range map[uint64]bool{0: true, maxOffset: true, maxOffset + 1: false, 1 << 63: false} {
		token := s.seal(binary.BigEndian.AppendUint64(nil, offset), MethodListTools, "", nil)
		_, ok := s.offset(MethodListTools, Caller{}, []byte(token))
		require.Equal(t, want, ok, offset)
	}
	_, ok := s.offset(MethodListTools, Caller{}, []byte(s.seal([]byte{1}, MethodListTools, "", nil)))
	require.False(t, ok)
	_, err = base64.RawURLEncoding.DecodeString(s.cursor(MethodListTools, Caller{}, 100))
	require.NoError(t, err)
}
