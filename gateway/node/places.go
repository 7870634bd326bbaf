package node

import (
	"context"
	"errors"
	"net"
	"reflect"
	"slices"

	"github.com/correlator-go/correlator/gateway/config"
)

// over says that a place serves no more.
type over struct {
	place *place
	err   error
}

// begin serves p at l in a goroutine of its own. n.mu is held.
func (n *Node) begin(p *place, l net.Listener) {
	if l != nil {
		p.door = newDoor(l, p.front != nil || p.aside)
	}
	if p.front != nil && !slices.Contains(n.fronts, p.front) {
		n.fronts = append(n.fronts, p.front)
	}
	n.loops.Go(func() {
		err := p.serve(n.clients, p.listener())
		if p.door != nil && p.door.wasLeft() && errors.Is(err, net.ErrClosed) {
			err = nil
		}
		n.over <- over{p, ended(err)}
	})
}

func (p *place) listener() net.Listener {
	if p.door == nil {
		return nil
	}
	return p.door
}

// move is how the places of one file become those of another.
type move struct {
	places []*place // as they are to be
	opened map[*place]net.Listener
	taken  map[*place]*place // from whom a new one takes its socket over
	left   []*place          // nobody comes in here any more
	// restart names what can only be done at the start.
	restart []string
}

// moving works out the move to c and opens the sockets that are new; nothing has changed
// if that fails. n.mu is held.
func (n *Node) moving(c *config.Config) (*move, error) {
	fresh, err := n.listeners(c)
	if err != nil {
		return nil, err
	}
	m := &move{opened: make(map[*place]net.Listener), taken: make(map[*place]*place)}
	old := make(map[string]*place)
	for _, p := range n.places {
		old[p.key] = p
	}
	for _, p := range fresh {
		was := old[p.key]
		delete(old, p.key)
		switch {
		case was != nil && (p.key == "" || reflect.DeepEqual(was.from, p.from)):
			m.places = append(m.places, was)
			continue
		case p.key == "":
			m.restart = append(m.restart, "listen: "+p.at)
			continue
		case was != nil:
			m.taken[p] = was
		case n.over != nil:
			l, err := p.bind(context.Background(), p)
			if err != nil {
				m.undo()
				return nil, c.Mistake("listen", err.Error())
			}
			m.opened[p] = l
		}
		m.places = append(m.places, p)
	}
	for _, p := range old {
		if p.key == "" {
			m.restart = append(m.restart, "listen: "+p.at)
			m.places = append(m.places, p) // its client is there
			continue
		}
		m.left = append(m.left, p)
	}
	return m, nil
}

// certificates reads those of the places that stay anew.
func (m *move) certificates(c *config.Config) error {
	for _, p := range m.places {
		if p.tls == nil {
			continue
		}
		if err := p.tls.Reload(); err != nil {
			return c.Mistake("listen", err.Error())
		}
	}
	return nil
}

// undo closes what was opened.
func (m *move) undo() {
	for _, l := range m.opened {
		_ = l.Close()
	}
}

// move makes the move. Connections go on where they came in. n.mu is held.
func (n *Node) move(m *move) {
	n.places = m.places
	if n.over == nil {
		return // Run opens them
	}
	for p, l := range m.opened {
		n.log.Info("listening", "address", p.at)
		n.begin(p, l)
	}
	for p, was := range m.taken {
		l := was.door.leave()
		if p.host != "" {
			p.named(l, p.host)
		}
		if p.front != nil && was.front != nil {
			was.front.become(p.front)
			p.front = was.front
		}
		n.log.Info("listening anew", "address", p.at)
		n.begin(p, l)
	}
	for _, p := range m.left {
		_ = p.door.leave().Close()
		n.log.Info("listening no more", "address", p.at)
	}
}
