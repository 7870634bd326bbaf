package page

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"errors"
	"html/template"
	"io"
)

//go:embed page.html page.css page.js live.js
var files embed.FS

var (
	templates = template.Must(template.ParseFS(files, "page.html"))
	styles    = template.CSS(text("page.css"))
	script    = text("page.js")
	liveJS    = text("live.js")
)

func text(name string) string {
	b, err := files.ReadFile(name)
	if err != nil {
		panic(err) // it is embedded
	}
	return string(b)
}

// RunsMost is how many runs a page shows.
const RunsMost = 2

var errRuns = errors.New("page: a page shows one run or two")

// Write writes the page of one finished run, or of two laid over each other: one
// file that asks for nothing. An error is w's, or says which histogram of which
// run cannot be read.
func Write(w io.Writer, runs ...Run) error {
	if len(runs) == 0 || len(runs) > RunsMost {
		return errRuns
	}
	classes := [RunsMost]string{"a", "b"}
	var shown []*run
	for i, r := range runs {
		one, err := read(r, classes[i])
		if err != nil {
			return err
		}
		shown = append(shown, one)
	}
	v := view(shown)
	v.Policy = policy(false)
	v.Style, v.Script = styles, template.JS(script)
	return templates.ExecuteTemplate(w, "page", v)
}

// policy is the Content-Security-Policy of a page: its own scripts, told by their
// digests, and nothing from anywhere. A live page may also talk to where it came from.
func policy(live bool) string {
	p := "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; script-src " + digest(script)
	if live {
		p += " " + digest(liveJS) + "; connect-src 'self'"
	}
	return p
}

func digest(script string) string {
	sum := sha256.Sum256([]byte(script))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}
