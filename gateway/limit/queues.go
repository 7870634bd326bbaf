package limit

import "container/ring"

// Client is whom a call counts for. Who a client is, is what it cannot choose: Name, if
// it has proved one, else Address, else Number alone. One that opens many sessions has
// no more turns, and no more calls a second, for that; Number tells its sessions apart,
// which take turns among themselves. All may be zero, which is one client, too.
type Client struct {
	// Name is its identity, Address where it comes from. Either may be "".
	Name, Address string
	// Number is its session's.
	Number uint64
}

// who is c without what tells the sessions of one client apart.
func (c Client) who() Client {
	switch {
	case c.Name != "":
		return Client{Name: c.Name}
	case c.Address != "":
		return Client{Address: c.Address}
	}
	return c
}

// queues are the tickets that wait at a gate, whose lock guards them. Those with
// tickets in lines are a ring, each with a ring of its lines.
type queues struct {
	of   map[Client]*queue
	turn *ring.Ring // of *queue: whose turn is next; nil when no line has a ticket
}

// queue is what waits of one client.
type queue struct {
	who   Client
	lines map[uint64]*line
	turn  *ring.Ring // of *line
	n     int        // tickets in lines
	held  int        // tickets that are held, and in no order
	place ring.Ring
}

// line is one session's tickets, the first to go first.
type line struct {
	queue       *queue
	session     uint64
	first, last *Ticket
	place       ring.Ring
}

// waiting is how many tickets c has.
func (q *queues) waiting(c Client) int {
	if one := q.of[c.who()]; one != nil {
		return one.n + one.held
	}
	return 0
}

func (q *queues) queue(c Client) *queue {
	who := c.who()
	one := q.of[who]
	if one == nil {
		one = &queue{who: who}
		one.place.Value = one
		q.of[who] = one
	}
	return one
}

// hold notes t, which waits in no line.
func (q *queues) hold(t *Ticket, c Client) {
	t.holder = q.queue(c)
	t.holder.held++
}

// join puts t at the end of its session's line, a new line behind the client's others,
// and a client without lines behind all others.
func (q *queues) join(t *Ticket, c Client) {
	one := q.queue(c)
	l := one.lines[c.Number]
	if l == nil {
		l = &line{queue: one, session: c.Number}
		l.place.Value = l
		if one.lines == nil {
			one.lines = make(map[uint64]*line)
		}
		one.lines[c.Number] = l
		one.turn = behind(one.turn, &l.place)
	}
	if one.n++; one.n == 1 {
		q.turn = behind(q.turn, &one.place)
	}
	t.line = l
	if t.prev = l.last; l.last != nil {
		l.last.next = t
	} else {
		l.first = t
	}
	l.last = t
}

// first is the ticket whose turn it is, and gives the turn to the next client, and its
// session's to that client's next one. There is one.
func (q *queues) first() *Ticket {
	one := q.turn.Value.(*queue)
	l := one.turn.Value.(*line)
	q.turn, one.turn = q.turn.Next(), one.turn.Next()
	return l.first
}

// remove takes t out, and forgets what is empty then.
func (q *queues) remove(t *Ticket) {
	if one := t.holder; one != nil {
		t.holder = nil
		one.held--
		q.drop(one)
		return
	}
	l := t.line
	if t.prev != nil {
		t.prev.next = t.next
	} else {
		l.first = t.next
	}
	if t.next != nil {
		t.next.prev = t.prev
	} else {
		l.last = t.prev
	}
	t.line, t.prev, t.next = nil, nil, nil
	one := l.queue
	if l.first == nil {
		one.turn = without(one.turn, &l.place)
		delete(one.lines, l.session)
	}
	if one.n--; one.n == 0 {
		q.turn = without(q.turn, &one.place)
		q.drop(one)
	}
}

// drop forgets a client of whom nothing waits.
func (q *queues) drop(one *queue) {
	if one.n+one.held == 0 {
		delete(q.of, one.who)
	}
}

// behind puts r at the end of the ring that turn begins, and gives where that begins.
func behind(turn, r *ring.Ring) *ring.Ring {
	if turn == nil {
		return r
	}
	turn.Prev().Link(r)
	return turn
}

// without takes r out of the ring that turn begins, and gives where that begins then.
func without(turn, r *ring.Ring) *ring.Ring {
	if r.Next() == r {
		return nil
	}
	if turn == r {
		turn = r.Next()
	}
	r.Prev().Unlink(1)
	return turn
}
