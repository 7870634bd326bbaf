// Package toolschema keeps the input schemas of tools that want arguments repeated in
// headers of HTTP: who serves clients compares them,
// and who asks servers sets them.
package toolschema
