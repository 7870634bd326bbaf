package config

import (
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// decoder fills in a Config from a document and notes the line of each member.
type decoder struct {
	file     string
	env      func(name string) (string, bool)
	lines    map[string]int
	order    []string // of the members of upstreams
	mistakes Mistakes
}

// most is how many mistakes are told of one file.
const most = 50

func (d *decoder) wrong(n *yaml.Node, path, format string, args ...any) {
	if len(d.mistakes) < most {
		d.mistakes = append(d.mistakes, &Mistake{d.file, n.Line, path, fmt.Sprintf(format, args...)})
	}
}

var duration = reflect.TypeFor[time.Duration]()

func (d *decoder) value(n *yaml.Node, v reflect.Value, path string) {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if _, ok := d.lines[path]; !ok {
		d.lines[path] = n.Line
	}
	switch {
	case n.Kind == yaml.ScalarNode && n.Tag == "!!null":
		// As if it were not there.
	case v.Type() == duration:
		d.duration(n, v, path)
	case v.Kind() == reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		d.value(n, v.Elem(), path)
	case v.Kind() == reflect.Struct:
		d.object(n, v, path)
	case v.Kind() == reflect.Map:
		d.mapping(n, v, path)
	case v.Kind() == reflect.Slice:
		d.list(n, v, path)
	default:
		d.scalar(n, v, path)
	}
}

func (d *decoder) object(n *yaml.Node, v reflect.Value, path string) {
	fields := membersOf(v.Type())
	if n.Kind == yaml.ScalarNode {
		for _, f := range fields {
			if f.short {
				d.value(n, v.Field(f.index), path)
				return
			}
		}
	}
	if n.Kind != yaml.MappingNode {
		d.wrong(n, path, "must be a mapping of %s", names(fields))
		return
	}
	d.pairs(n, path, func(key, value *yaml.Node) {
		for _, f := range fields {
			if f.name == key.Value {
				d.value(value, v.Field(f.index), join(path, f.name))
				return
			}
		}
		d.wrong(key, join(path, key.Value), "there is no such member%s", suggest(key.Value, fields))
	})
	for _, f := range fields {
		if f.required && v.Field(f.index).IsZero() {
			d.wrong(n, join(path, f.name), "is required")
		}
	}
}

// pairs visits the members of a mapping, each once.
func (d *decoder) pairs(n *yaml.Node, path string, visit func(key, value *yaml.Node)) {
	seen := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if key.Kind != yaml.ScalarNode {
			d.wrong(key, path, "a name must be text")
			continue
		}
		if line, twice := seen[key.Value]; twice {
			d.wrong(key, join(path, key.Value), "stands twice; the first is in line %d", line)
			continue
		}
		seen[key.Value] = key.Line
		d.lines[join(path, key.Value)] = key.Line
		visit(key, value)
	}
}

func (d *decoder) mapping(n *yaml.Node, v reflect.Value, path string) {
	if n.Kind != yaml.MappingNode {
		d.wrong(n, path, "must be a mapping of names")
		return
	}
	v.Set(reflect.MakeMap(v.Type()))
	d.pairs(n, path, func(key, value *yaml.Node) {
		if path == "upstreams" {
			d.order = append(d.order, key.Value)
		}
		one := reflect.New(v.Type().Elem()).Elem()
		d.value(value, one, join(path, key.Value))
		v.SetMapIndex(reflect.ValueOf(key.Value), one)
	})
}

func (d *decoder) list(n *yaml.Node, v reflect.Value, path string) {
	if n.Kind != yaml.SequenceNode {
		d.wrong(n, path, "must be a list, such as [one, two]")
		return
	}
	v.Set(reflect.MakeSlice(v.Type(), len(n.Content), len(n.Content)))
	for i, one := range n.Content {
		d.value(one, v.Index(i), fmt.Sprintf("%s[%d]", path, i))
	}
}

func (d *decoder) scalar(n *yaml.Node, v reflect.Value, path string) {
	if n.Kind != yaml.ScalarNode {
		d.wrong(n, path, "must be %s", wants(v))
		return
	}
	var err error
	switch v.Kind() {
	case reflect.String:
		v.SetString(d.expand(n, path))
	case reflect.Bool:
		if n.Tag != "!!bool" {
			d.wrong(n, path, "must be true or false")
			return
		}
		err = n.Decode(v.Addr().Interface())
	case reflect.Int:
		switch text := strings.ReplaceAll(n.Value, "_", ""); {
		case n.Value == none:
			v.SetInt(-1)
		default:
			var i int64
			if i, err = strconv.ParseInt(text, 10, 0); err == nil && i < 0 {
				d.wrong(n, path, "must not be negative; no bound is written none")
				return
			}
			v.SetInt(i)
		}
	case reflect.Float64:
		var f float64
		if f, err = strconv.ParseFloat(n.Value, 64); err == nil && (f < 0 || math.IsInf(f, 0) || math.IsNaN(f)) {
			d.wrong(n, path, "must be a number that is not negative")
			return
		}
		v.SetFloat(f)
	}
	if err != nil {
		d.wrong(n, path, "must be %s", wants(v))
	}
}

// none is how files say that there is no bound.
const none = "none"

func (d *decoder) duration(n *yaml.Node, v reflect.Value, path string) {
	if n.Kind == yaml.ScalarNode && n.Value == none {
		v.SetInt(-1)
		return
	}
	t, err := time.ParseDuration(n.Value)
	switch {
	case n.Kind != yaml.ScalarNode || err != nil:
		d.wrong(n, path, "must be a time with its unit, such as 30s or 5m, or none")
	case t < 0:
		d.wrong(n, path, "must not be negative; no bound is written none")
	default:
		v.SetInt(int64(t))
	}
}

func wants(v reflect.Value) string {
	switch v.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.Int:
		return "a whole number, or none"
	case reflect.Float64:
		return "a number"
	}
	return "text"
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// expand puts in the variables of the environment that a text names: ${NAME}. $${ is ${.
func (d *decoder) expand(n *yaml.Node, path string) string {
	rest, out := n.Value, strings.Builder{}
	for {
		before, after, found := strings.Cut(rest, "${")
		if !found {
			out.WriteString(rest)
			return out.String()
		}
		if strings.HasSuffix(before, "$") {
			out.WriteString(before + "{")
			rest = after
			continue
		}
		out.WriteString(before)
		name, tail, closed := strings.Cut(after, "}")
		if !closed {
			d.wrong(n, path, "${ has no end")
			return ""
		}
		value, ok := d.env(name)
		if !ok {
			d.wrong(n, path, "the environment has no variable %q", name)
		}
		out.WriteString(value)
		rest = tail
	}
}
