// Package fuzz holds the properties that no single package owns, tried through
// the public API with whatever bytes the fuzzer invents. It has no code of its
// own; `make fuzz` runs every target of the repository.
//
// Here:
//
//   - FuzzPipeline: whatever a peer sends before, between and after its answers,
//     every call ends exactly once, the counters add up and the connection closes.
//   - FuzzPipelineChunking: the same bytes cut anywhere lead to the same outcomes.
//   - FuzzForward: a frame that was accepted, given another id and compacted is
//     one line, is accepted again, and differs in nothing but its id and spacing.
//
// Beside their packages: the scan against encoding/json and against a slow
// reference walk, chunking invariance of each framing and splicing in codec; the
// wheel against a sorted list in wheel; histories of the table against a mutex
// twin in engine.
package fuzz
