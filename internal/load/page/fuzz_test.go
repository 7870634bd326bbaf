package page_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/correlator-go/correlator/internal/load/page"
	"github.com/correlator-go/correlator/internal/load/report"
)

// Whatever file is shown, there is a page with one script in it, or an error.
func FuzzWrite(f *testing.F) {
	one := fast
	one.seconds, one.calls = 2, 20
	for _, d := range []*report.Document{one.document(f), {}} {
		text, err := json.Marshal(d)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	f.Add(`{"intervals":[{"start":1e308,"seconds":1e308,"inFlight":-5,"response":{"count":1,"p50Ns":-9223372036854775808}}],"config":{"method":"</script>"}}`)
	f.Add(`{"rates":{"answered":1e308,"seconds":-1e308},"cost":{"calls":1,"cpuNsPerCall":-1e308,"allocsPerCall":1e308},"config":{"durationSeconds":1e300}}`)
	f.Fuzz(func(t *testing.T, text string) {
		var d report.Document
		if json.Unmarshal([]byte(text), &d) != nil || len(d.Intervals) > 1000 {
			return
		}
		var b bytes.Buffer
		run := page.Run{Name: "run", Doc: &d}
		if page.Write(&b, run, run) != nil {
			return
		}
		if n := strings.Count(b.String(), "<script"); n != 1 {
			t.Fatalf("%d scripts", n)
		}
		for _, bad := range []string{"NaN", "Inf", "ZgotmplZ"} {
			if strings.Contains(b.String(), `="`+bad) || strings.Contains(b.String(), " "+bad+" ") {
				t.Fatalf("%s in the page", bad)
			}
		}
	})
}
