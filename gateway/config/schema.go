package config

import (
	"encoding/json"
	"reflect"
)

// Schema is the JSON Schema (2020-12) of the file, for editors: what Parse takes that a
// schema can say.
func Schema() []byte {
	s := schemaOf(reflect.TypeFor[Config](), nil)
	s["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	s["title"] = "Configuration of the correlator gateway"
	text, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		panic("config: " + err.Error()) // maps, texts and booleans
	}
	return append(text, '\n')
}

type object = map[string]any

func schemaOf(t reflect.Type, m *member) object {
	switch {
	case t == duration:
		return object{"type": "string", "pattern": `^(none|0|([0-9]+(\.[0-9]*)?(ns|us|µs|ms|s|m|h))+)$`}
	case t.Kind() == reflect.Pointer:
		return schemaOf(t.Elem(), m)
	case t.Kind() == reflect.Struct:
		return structSchema(t)
	case t.Kind() == reflect.Map:
		return object{"type": "object", "additionalProperties": schemaOf(t.Elem(), nil)}
	case t.Kind() == reflect.Slice:
		return object{"type": "array", "items": schemaOf(t.Elem(), nil)}
	case t.Kind() == reflect.Bool:
		return object{"type": "boolean"}
	case t.Kind() == reflect.Int:
		return object{"anyOf": []any{object{"type": "integer", "minimum": 0}, object{"const": none}}}
	case t.Kind() == reflect.Float64:
		return object{"type": "number", "minimum": 0}
	case m != nil && len(m.enum) > 0:
		return object{"enum": m.enum}
	}
	return object{"type": "string"}
}

func structSchema(t reflect.Type) object {
	properties, required := object{}, []string{}
	short := false
	for _, m := range membersOf(t) {
		one := schemaOf(t.Field(m.index).Type, &m)
		one["description"] = m.doc
		properties[m.name] = one
		if m.required {
			required = append(required, m.name)
		}
		short = short || m.short
	}
	s := object{"type": "object", "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		s["required"] = required
	}
	if short {
		return object{"anyOf": []any{object{"type": "string"}, s}}
	}
	return s
}
