// Package tools pins the programs that check this repository. They live in a
// module of their own, so that the library's go.mod names none of them:
//
//	go tool -modfile=tools/go.mod staticcheck ./...
package tools
