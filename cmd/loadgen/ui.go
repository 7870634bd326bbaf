package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/correlator-go/correlator/internal/load/drive"
	"github.com/correlator-go/correlator/internal/load/panel"
	"github.com/correlator-go/correlator/internal/load/report"
)

// partTime is how long whoever looks on may take to fetch the end of a run.
const partTime = 3 * time.Second

// uiWatcher serves a run as a page with buttons (-ui).
type uiWatcher struct {
	address string
	panel   *panel.Panel
	served  chan error // what Serve returned
}

func (u *uiWatcher) flags(f *flag.FlagSet) {
	f.StringVar(&u.address, "ui", "", "address at which to serve the run as a page with buttons")
}

func (u *uiWatcher) wanted() (bool, error) {
	_, err := localAddress("-ui", u.address)
	return u.address != "", err
}

func (u *uiWatcher) begin(ctx context.Context, live *report.Live, control *drive.Control, w io.Writer) error {
	l, err := listen(ctx, "-ui", u.address)
	if err != nil {
		return err
	}
	u.panel, u.served = panel.New(live, control), make(chan error, 1)
	go func() { u.served <- u.panel.Serve(l) }()
	if _, err = fmt.Fprintf(w, "watch and steer it: %s\n", u.panel.Address(l.Addr())); err != nil {
		_ = u.end(nil) // err came first
	}
	return err
}

func (u *uiWatcher) end(*report.Document) error {
	ctx, cancel := context.WithTimeout(context.Background(), partTime)
	defer cancel()
	closed := u.panel.Close(ctx)
	if err := <-u.served; err != nil {
		return err
	}
	return closed
}

// localAddress completes an address to listen at: without a host it is this
// machine alone. Others get in only where an address says so.
func localAddress(name, address string) (string, error) {
	if address == "" {
		return "", nil
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return "", fmt.Errorf("%s %q: want an address such as 127.0.0.1:0", name, address)
	}
	if host == "" {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, port), nil
}

func listen(ctx context.Context, name, address string) (net.Listener, error) {
	address, err := localAddress(name, address)
	if err != nil {
		return nil, err
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return l, nil
}
