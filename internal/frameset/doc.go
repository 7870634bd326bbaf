// Package frameset makes sets of JSON-RPC frames for benchmarks and fuzz seeds:
// many different frames of one shape, the same ones for the same seed.
//
// Benchmarks must rotate through such a set. One frame measured again and again
// teaches its branches to the processor by heart, and shows a scan twice as fast
// as real traffic ever will.
//
//	for _, s := range frameset.Shapes() {
//		frames := frameset.Make(s, 1, frameset.Rotation)
//		...
//	}
//
// Every frame is one valid JSON-RPC 2.0 message of compact JSON in UTF-8,
// without a byte behind it.
package frameset
