package panel

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/correlator-go/correlator/internal/load/drive"
	"github.com/correlator-go/correlator/internal/load/page"
	"github.com/correlator-go/correlator/internal/load/report"
)

const (
	// headerTimeout and idleTimeout bound what a client may hold open, writeTimeout
	// how long it may take over one drawing.
	headerTimeout = 5 * time.Second
	bodyTimeout   = time.Second
	idleTimeout   = 30 * time.Second
	writeTimeout  = 5 * time.Second
	headerBytes   = 16 << 10
	// pause is the least time between two drawings.
	pause = 200 * time.Millisecond
)

// Panel serves one run. Its methods are safe for concurrent use.
type Panel struct {
	source  *report.Live
	control *drive.Control
	token   string
	server  *http.Server

	drawing sync.Mutex // protects page
	page    *page.Live

	crowd crowd
	quit  chan struct{} // closed when the drawing must end
	drawn chan struct{} // closed when it has
	over  sync.Once
}

// New returns the panel of source, whose buttons act on control.
func New(source *report.Live, control *drive.Control) *Panel {
	p := &Panel{
		source: source, control: control, token: rand.Text(), page: page.NewLive(source),
		quit: make(chan struct{}), drawn: make(chan struct{}),
	}
	p.crowd.arrived = make(chan struct{}, 1)
	p.server = &http.Server{
		Handler:           p.handler(),
		ReadHeaderTimeout: headerTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: headerBytes,
		ErrorLog: log.New(io.Discard, "", 0), // a client that breaks off is no news
	}
	return p
}

// Serve answers at l until Close, and closes l. It returns what ended it, nil
// after Close.
func (p *Panel) Serve(l net.Listener) error {
	go p.draw()
	if err := p.server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// Address is where a browser finds a panel that listens at a, token and all.
func (p *Panel) Address(a net.Addr) string {
	return "http://" + a.String() + "/?token=" + p.token
}

// Close ends the panel. Before, whoever looks on gets the last drawing, for which
// it waits until ctx ends. After Close nothing of the panel runs.
func (p *Panel) Close(ctx context.Context) error {
	var err error
	p.over.Do(func() {
		p.crowd.close(ctx) // readers leave after the last drawing
		close(p.quit)
		<-p.drawn
		if err = p.server.Shutdown(ctx); err != nil {
			err = p.server.Close()
		}
	})
	return err
}
