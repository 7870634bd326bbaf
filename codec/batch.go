package codec

import "iter"

// SplitBatch.
func SplitBatch(frame []byte, o ScanOptions) iter.Seq2[[]byte, error] { return nil }

// PeekID.
func PeekID(prefix []byte, p Profile) (ID, bool) { return ID{}, false }
