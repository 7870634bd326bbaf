package main

import (
	"os"

	"github.com/correlator-go/correlator/bench"
	"github.com/correlator-go/correlator/bench/claim"
)

func main() {
	os.Exit(claim.Main(os.Args[1:], os.Stdout, os.Stderr, bench.Claims(), bench.Roles()))
}
