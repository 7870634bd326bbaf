package main

import (
	"fmt"
	"os"

	"github.com/correlator-go/correlator/bench"
	"github.com/correlator-go/correlator/bench/claim"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == "peers" {
		os.Exit(peers(os.Args[2:]))
	}
	os.Exit(claim.Main(os.Args[1:], os.Stdout, os.Stderr, bench.Claims(), bench.Roles()))
}

func peers(args []string) int {
	if len(args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: check peers DOCUMENT REPORT")
		return 2
	}
	if err := fillPeers(args[0], args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "check:", err)
		return 1
	}
	return 0
}
