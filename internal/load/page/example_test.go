package page_test

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/correlator-go/correlator/internal/load/page"
	"github.com/correlator-go/correlator/internal/load/report"
)

func ExampleWrite() {
	run := page.Run{Name: "run", Doc: &report.Document{Config: report.Config{Method: "echo", Target: "pipe:echo"}}}
	var html bytes.Buffer
	if err := page.Write(&html, run); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(strings.Count(html.String(), "<figure"), "charts,", strings.Count(html.String(), "http"), "addresses")
	// Output: 6 charts, 1 addresses
}
