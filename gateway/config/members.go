package config

import (
	"reflect"
	"slices"
	"strings"
)

// member is a field of a struct as the file has it.
type member struct {
	index           int
	name, doc       string
	enum            []string
	required, short bool // short: a scalar in place of the object is this member
}

func membersOf(t reflect.Type) []member {
	var out []member
	for f := range t.Fields() {
		name, ok := f.Tag.Lookup("yaml")
		if !ok {
			continue
		}
		out = append(out, member{
			index: f.Index[0], name: name, doc: f.Tag.Get("doc"), enum: strings.Fields(f.Tag.Get("enum")),
			required: f.Tag.Get("required") != "", short: f.Tag.Get("short") != "",
		})
	}
	return out
}

func names(members []member) string {
	out := make([]string, len(members))
	for i, m := range members {
		out[i] = m.name
	}
	return strings.Join(out, ", ")
}

// suggest names the member that was probably meant.
func suggest(name string, members []member) string {
	best, at := 3, ""
	for _, m := range members {
		if d := distance(strings.ToLower(name), strings.ToLower(m.name)); d < best && d < len(m.name) {
			best, at = d, m.name
		}
	}
	if at == "" {
		return "; there are " + names(members)
	}
	return "; is it " + at + "?"
}

// distance is how many letters must be changed, added or left out.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			before, row[j+1] = row[j+1], min(before+cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

// enums checks the words of members that have few.
func enums(v reflect.Value, path string, wrong func(path, problem string)) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			enums(v.Elem(), path, wrong)
		}
	case reflect.Struct:
		for _, m := range membersOf(v.Type()) {
			f := v.Field(m.index)
			if len(m.enum) > 0 && f.String() != "" && !slices.Contains(m.enum, f.String()) {
				wrong(join(path, m.name), "must be one of "+strings.Join(m.enum, ", "))
			}
			enums(f, join(path, m.name), wrong)
		}
	case reflect.Map:
		for _, k := range v.MapKeys() {
			enums(v.MapIndex(k), join(path, k.String()), wrong)
		}
	case reflect.Slice:
		for i := range v.Len() {
			enums(v.Index(i), path, wrong)
		}
	}
}
