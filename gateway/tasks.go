package gateway

import (
	"bytes"
	"strings"
	"sync"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/gateway/link"
	"github.com/correlator-go/correlator/gateway/merge"
	"github.com/correlator-go/correlator/gateway/route"
	"github.com/correlator-go/correlator/mcp"
)

const (
	tasksPrefix     = "tasks/"
	methodTasks     = "tasks/list"
	noteTasksPrefix = "notifications/tasks"
	// tasksMost is how many tasks are remembered; the oldest are forgotten first.
	tasksMost = 1 << 16
)

// tasks is who began which task, where a server is shared or is one of several. A task
// outlives the call that began it, and its id is all that names it: so it belongs to
// the identity that began it, or, where there is none, to the session. To everybody
// else it does not exist.
type tasks struct {
	mu    sync.Mutex // guards the fields below
	all   map[taskKey]*target
	order []taskKey // as they came, for the bound
}

type taskKey struct{ owner, id string }

// owner names who a client's tasks belong to.
func (s *Session) owner() string {
	if s.peer.Identity != "" || s.peer.Alone {
		return "i" + s.peer.Identity
	}
	return sessionName(s.number)
}

func (t *tasks) add(k taskKey, to *target) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.all == nil {
		t.all = make(map[taskKey]*target)
	}
	if _, had := t.all[k]; !had {
		if t.order = append(t.order, k); len(t.order) > tasksMost {
			delete(t.all, t.order[0])
			t.order = append(t.order[:0:0], t.order[1:]...)
		}
	}
	t.all[k] = to
}

func (t *tasks) find(k taskKey) *target {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.all[k]
}

// owners gives who began a task at an upstream.
func (t *tasks) owners(id string, at *target) []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var out []string
	for k, to := range t.all {
		if k.id == id && to == at {
			out = append(out, k.owner)
		}
	}
	return out
}

// noteTask remembers the task that an answer to c names, if it does.
func (b *backend) noteTask(c *call, result []byte) {
	if c.method != mcp.MethodCallTool || !bytes.Contains(result, []byte(`taskId`)) {
		return
	}
	spans, err := route.Members(result, "task", "taskId", "resultType")
	if err != nil {
		return
	}
	raw := spans[1].Of(result)
	if task := spans[0].Of(result); len(task) > 0 {
		s, err := route.Member(task, "taskId")
		if err != nil {
			return
		}
		raw = s.Of(task)
	} else if string(spans[2].Of(result)) != `"task"` {
		return
	}
	if id, ok := route.Text(raw); ok {
		b.target.g.tasks.add(taskKey{c.session.owner(), id}, b.target)
	}
}

// taskOf is the upstream of the task that a request names; nil, with what to answer,
// if the client has none of that id.
func (s *Session) taskOf(m *codec.Message) (*target, *codec.Error) {
	span, err := route.Member(m.Params(), "taskId")
	if err != nil {
		return nil, unreadableParams(err)
	}
	if id, ok := route.Text(span.Of(m.Params())); ok {
		if t := s.g.tasks.find(taskKey{s.owner(), id}); t != nil {
			return t, nil
		}
	}
	return nil, invalidParams("no such task")
}

// byTask sends a request about a task to its upstream.
func (s *Session) byTask(b *link.Burst, c *call, m *codec.Message) {
	if c.method == methodTasks {
		s.listTasks(b, c, m, s.g.plan.Load().order)
		return
	}
	t, failed := s.taskOf(m)
	if failed != nil {
		c.end(b, Refused, nil, failed)
		return
	}
	t.backend(s).admit(b, c, m, nil)
}

// listTasks answers tasks/list with the client's own.
func (s *Session) listTasks(b *link.Burst, c *call, m *codec.Message, of []*target) {
	s.gatherList(b, c, m, merge.List{Method: methodTasks, Member: "tasks"}, of, func(t *target, entry []byte) bool {
		span, err := route.Member(entry, "taskId")
		if err != nil {
			return false
		}
		id, ok := route.Text(span.Of(entry))
		return ok && s.g.tasks.find(taskKey{s.owner(), id}) == t
	})
}

// taskChanged takes a notification about a task to whom it belongs.
func (l *life) taskChanged(burst *link.Burst, m *codec.Message) {
	g := l.b.target.g
	span, err := route.Member(m.Params(), "taskId")
	id, ok := route.Text(span.Of(m.Params()))
	told := false
	if err == nil && ok {
		for _, owner := range g.tasks.owners(id, l.b.target) {
			for _, s := range g.everySession() {
				if s.owner() == owner && !s.peer.Alone {
					s.send(burst, &link.Frame{Bytes: m.Frame(), Class: link.Note})
					told = true
				}
			}
		}
	}
	if !told {
		g.dropped(UnownedNote, nil, l.b)
	}
}

// listensToOthers reports whether a listen request names a task that is not the
// client's.
func (s *Session) listensToOthers(m *codec.Message) bool {
	var ids []string
	text := memberOf(memberOf(m.Params(), "notifications"), "taskIds")
	if len(text) == 0 {
		return false
	}
	if codec.DecodeValue(text, &ids) != nil {
		return true
	}
	for _, id := range ids {
		if s.g.tasks.find(taskKey{s.owner(), id}) == nil {
			return true
		}
	}
	return false
}

func isTaskMethod(method string) bool { return strings.HasPrefix(method, tasksPrefix) }
