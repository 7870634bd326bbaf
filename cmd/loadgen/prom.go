package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"net/http"
	"time"

	"github.com/correlator-go/correlator/internal/load/drive"
	"github.com/correlator-go/correlator/internal/load/prom"
	"github.com/correlator-go/correlator/internal/load/report"
)

// scrapeTime bounds a scrape, and what a client may hold open.
const scrapeTime = 5 * time.Second

// promWatcher gives a run out to Prometheus (-prom).
type promWatcher struct {
	address string
	server  *http.Server
	served  chan error
}

func (p *promWatcher) flags(f *flag.FlagSet) {
	f.StringVar(&p.address, "prom", "", "address at which to give out metrics for Prometheus")
}

func (p *promWatcher) wanted() (bool, error) {
	_, err := localAddress("-prom", p.address)
	return p.address != "", err
}

func (p *promWatcher) begin(ctx context.Context, live *report.Live, _ *drive.Control, w io.Writer) error {
	l, err := listen(ctx, "-prom", p.address)
	if err != nil {
		return err
	}
	exporter := prom.NewExporter(live)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, _ *http.Request) {
		var b bytes.Buffer
		if err := exporter.Write(&b); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", prom.ContentType)
		_, _ = w.Write(b.Bytes()) // an error is the client's
	})
	p.server = &http.Server{
		Handler: mux, ReadHeaderTimeout: scrapeTime, ReadTimeout: scrapeTime, WriteTimeout: scrapeTime, IdleTimeout: 2 * time.Minute,
		ErrorLog: log.New(io.Discard, "", 0), // a client that breaks off is no news
	}
	p.served = make(chan error, 1)
	go func() { p.served <- p.server.Serve(l) }()
	if _, err = fmt.Fprintf(w, "metrics: http://%s/metrics\n", l.Addr()); err != nil {
		_ = p.end(nil) // err came first
	}
	return err
}

// end closes at once: what a scraper has not fetched by then is in the report.
func (p *promWatcher) end(*report.Document) error {
	closed := p.server.Close()
	if err := <-p.served; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return closed
}
