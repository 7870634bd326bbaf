// Package arch holds the gateway's import graph as a test.
package arch
