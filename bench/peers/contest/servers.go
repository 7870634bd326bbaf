package contest

import (
	"fmt"

	"github.com/correlator-go/correlator/bench/peers/load"
	"github.com/correlator-go/correlator/bench/peers/peer"
	"github.com/correlator-go/correlator/bench/peers/report"
	"github.com/correlator-go/correlator/bench/peers/server"
)

// toolServers are the contenders of the servers rows. They go by the names of the
// clients that come from the same library.
var toolServers = []struct {
	name   string
	class  peer.Class
	server string
}{
	{peer.Blocking, peer.Ours, server.OurTools},
	{peer.GoSDK, peer.JSON, server.GoSDKTools},
	{peer.MCPGo, peer.JSON, server.MCPGoTools},
}

// serverTurns lists the contenders of a servers row.
func (c *Contest) serverTurns(row *report.Row) ([]turn, error) {
	var out []turn
	for _, s := range toolServers {
		p := peer.Peer{Name: s.name, Class: s.class, Server: s.server}
		if c.plan.Peers != nil && !c.plan.Peers(p, *row) {
			continue
		}
		cell, err := c.cell(p, row)
		if err != nil {
			return nil, err
		}
		cell.Client = peer.ToolLoad.Name
		out = append(out, turn{&report.Entry{Peer: s.name, Class: s.class}, func() (load.Figures, error) { return c.child(cell) }})
	}
	return out, nil
}

// servers measures the server: the load is that of closed rows, the cost that of
// the server's process.
func (c *Cell) servers() (load.Figures, error) {
	link, _, err := c.link()
	if err != nil {
		return nil, err
	}
	client, err := peer.ToolLoad.Open(link)
	if err != nil {
		return nil, fmt.Errorf("opening: %w", err)
	}
	var failed error
	meter := load.Meter{Spent: func() load.Cost {
		spent, err := server.Cost(c.Costs)
		if err != nil {
			failed = err
		}
		return spent
	}}
	f, err := c.closed(client, meter)
	if err == nil {
		err = failed
	}
	return f, err
}
