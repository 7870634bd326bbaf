//go:build !unix

package main

import "context"

// onReload: there is no SIGHUP here.
func onReload(context.Context, func()) {}
