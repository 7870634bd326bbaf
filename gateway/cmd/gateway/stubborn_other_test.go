//go:build !unix

package main

import "errors"

const (
	stubbornDir  = "GATEWAY_TEST_DIR"
	stubbornName = "GATEWAY_TEST_NAME"
)

func stubborn(string, string) error { return errors.ErrUnsupported }
