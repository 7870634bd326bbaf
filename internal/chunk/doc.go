// Package chunk lends buffers that several holders share: counted by references,
// pooled in size classes, watched under the build tag invariants.
//
// The codec's readers read into chunks, and every retained message holds one. A
// chunk is got by [Get] with one reference; each further holder takes one by
// Retain, and each gives one back by Release. Who drops the last one puts the
// chunk back into the pool of its size. A chunk that nobody releases is the
// collector's, so forgetting a Release is slow but safe.
//
//	        Get           Retain / Release           last Release
//	pooled -----> refs 1 <----------------> refs n ---------------> pooled
//	                                                (generation+1)
//
// C1: the bytes of a chunk are written only by the reader beyond its last frame,
// or, when frames are edited in place, while there is one reference.
// C2: a generation ends with the last Release; who names an earlier generation
// never moves the count.
//
// Misuse that can be seen panics: a release too many, a retain of what was given
// back. Under the tag invariants an [Audit] keeps account of each frame, and bytes
// that nobody may look at are overwritten.
package chunk
