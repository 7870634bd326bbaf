// Package embedding holds the code of docs/embedding.md and of the pages in
// docs/coming-from that need nothing but this module. It is all in its tests, which
// run it and hold the pages to it.
package embedding
