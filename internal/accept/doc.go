// Package accept takes connections from a listener for as long as there is a point in
// it: what passes by itself does not end a server.
package accept
