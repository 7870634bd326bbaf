package codec

import (
	"reflect"
	"sync"
	"sync/atomic"

	"github.com/valyala/bytebufferpool"
)

// AppendValue appends the JSON encoding of v to dst: that of [encoding/json]
// without the escaping for HTML, and so without a raw newline or a byte that is
// not UTF-8. Map keys are sorted. It is safe for concurrent use as far as v is.
//
// The work is done by the engine that [ValueEngine] names, with the same results
// but for the choice between equal escapes; what encoding/json accepts, either
// accepts. Errors are those of encoding/json, and dst is returned as it was.
func AppendValue(dst []byte, v any) ([]byte, error) {
	room := dst[len(dst):]
	if err := encodeInto(&room, v); err != nil {
		return dst, err
	}
	if n := len(dst) + len(room); len(room) > 0 && n <= cap(dst) && &room[0] == &dst[:n][len(dst)] {
		return dst[:n], nil
	}
	return append(dst, room...), nil // it outgrew dst
}

// DecodeValue decodes the JSON text data into what v points to, as
// [encoding/json.Unmarshal] does, whose errors it returns, and with the same
// results whatever [ValueEngine] is. Data that are not UTF-8 are refused
// (ErrInvalidUTF8). What is decoded shares no bytes with data, and no small part
// of it keeps a large one in memory. It is safe for concurrent use.
//
// Struct fields match member names as in encoding/json: exactly, or else without
// regard to case. Texts above 2 MiB are decoded by encoding/json in any case, since
// sonic's native code would hold up the garbage collector for as long as it runs.
// Under sonic the first value of a type takes milliseconds: it compiles its code.
func DecodeValue(data []byte, v any) error {
	if !validUTF8(data) {
		return ErrInvalidUTF8
	}
	return decodeValue(data, v)
}

// EncodeValue encodes v like [AppendValue] into a pooled buffer of its own, for
// values whose size is not known. The caller gives it back with [PutValue] when
// nothing refers to its bytes any more; not doing so is safe.
//
// There is a pool for each class of sizes, so that none is calibrated by the
// traffic of another. The class is that of the last value of v's type.
func EncodeValue(v any) (*bytebufferpool.ByteBuffer, error) {
	class := classOfType(v)
	b := valuePools[class.Load()].Get()
	if err := encodeInto(&b.B, v); err != nil {
		b.Reset()
		PutValue(b)
		return nil, err
	}
	if c := classOfSize(len(b.B)); c != class.Load() {
		class.Store(c)
	}
	return b, nil
}

// PutValue gives back a buffer that [EncodeValue] returned; nil is ignored. The
// buffer must not be used after it.
func PutValue(b *bytebufferpool.ByteBuffer) {
	if b != nil {
		valuePools[classOfSize(len(b.B))].Put(b)
	}
}

// valuePools holds the pools of the size classes: up to 4 KiB, up to 256 KiB,
// and above. Each is allocated by itself, because its counters need the alignment
// that a 32-bit machine gives only to the beginning of an allocation.
var valuePools = [...]*bytebufferpool.Pool{new(bytebufferpool.Pool), new(bytebufferpool.Pool), new(bytebufferpool.Pool)}

func classOfSize(n int) uint32 {
	switch {
	case n <= 4<<10:
		return 0
	case n <= 256<<10:
		return 1
	}
	return 2
}

// typeClasses remembers the class of the last value of each type, as
// map[reflect.Type]*atomic.Uint32. Types are as many as the program has.
var typeClasses sync.Map

func classOfType(v any) *atomic.Uint32 {
	t := reflect.TypeOf(v)
	class, ok := typeClasses.Load(t)
	if !ok {
		class, _ = typeClasses.LoadOrStore(t, new(atomic.Uint32))
	}
	return class.(*atomic.Uint32)
}
