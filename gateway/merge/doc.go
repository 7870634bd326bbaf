// Package merge makes one server of several: tools, prompts and resources under
// prefixes. It has no I/O: it says where a name belongs, and makes one list of many.
//
//	tools/call {"name":"files__read"}  ──▶  upstream "files", {"name":"read"}
//	tools/list                         ──▶  tools/list of each, page by page  ──▶  one list
//
// A name is cut out of the frame and put back by a splice; the rest of an entry of a
// list stays byte for byte as its server wrote it. An upstream that cannot be reached
// is missing from the lists, and named in the result's _meta; the others serve.
package merge
