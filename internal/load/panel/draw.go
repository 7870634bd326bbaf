package panel

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"
)

// draw draws when something came and somebody looks, until quit.
func (p *Panel) draw() {
	defer close(p.drawn)
	timer := time.NewTimer(pause)
	defer timer.Stop()
	for {
		changed := p.source.Changed() // before the drawing, which then has it all
		if p.crowd.looks() {
			p.crowd.show(p.frame())
		}
		select {
		case <-p.quit:
			return
		case <-changed:
		case <-p.crowd.arrived:
		}
		timer.Reset(pause)
		select {
		case <-p.quit:
			return
		case <-timer.C:
		}
	}
}

// frame is the run as it stands, as an event of the stream.
func (p *Panel) frame() drawing {
	p.drawing.Lock()
	defer p.drawing.Unlock()
	f, err := p.page.Frame()
	if err != nil {
		f.State, f.Detail = "This cannot be shown", err.Error()
		f.Over = !p.source.Document().Running
	}
	var b bytes.Buffer
	b.WriteString("event: frame\ndata: ")
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // it is not in HTML yet
	if err := e.Encode(f); err != nil {
		panic(fmt.Sprintf("panel: a frame that is no JSON: %v", err)) // strings and booleans
	}
	b.WriteByte('\n') // Encode has ended the line, this ends the event
	return drawing{b.Bytes(), f.Over}
}
