package tool

import (
	"encoding"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/agentkit-go/agentkit/pkg/param"
)

// ResultVersion is the version of the contract that docs/results.md writes down.
// It changes when a member goes or changes its meaning, not when one comes.
const ResultVersion = 1

// EventSchemas are the schemas of the events, by name, but for result, which holds
// the result's own members.
func EventSchemas() []param.Property {
	var list []param.Property
	for _, e := range []struct {
		name  string
		value any
	}{{"start", StartEvent{}}, {"output", OutputEvent{}}, {"progress", ProgressEvent{}}, {"ask", AskEvent{}}} {
		s := SchemaOf(reflect.TypeOf(e.value))
		s.Properties = slices.Insert(s.Properties, 0, param.Property{Name: "event", Schema: &param.Schema{Type: "string", Enum: []string{e.name}}})
		s.Required = append(s.Required, "event")
		list = append(list, param.Property{Name: e.name, Schema: s})
	}
	return list
}

// DetailSchemas are the schemas of the details of errors, by code: those that any tool
// may have and those of the given ones. A code that is missing has none.
func DetailSchemas(tools []*Tool) map[Code]*param.Schema {
	all := []Details{VersionDetails{}, DeniedDetails{}, ApprovalDetails{}, PolicyDetails{}, PanicDetails{}}
	for _, t := range tools {
		all = append(all, t.Details...)
	}
	schemas, seen := map[Code]*param.Schema{}, map[reflect.Type]bool{}
	for _, d := range all {
		if seen[reflect.TypeOf(d)] {
			continue
		}
		seen[reflect.TypeOf(d)] = true
		for _, c := range d.Codes() {
			if schemas[c] == nil {
				schemas[c] = &param.Schema{Type: "object"}
			}
			schemas[c].AnyOf = append(schemas[c].AnyOf, SchemaOf(reflect.TypeOf(d)))
		}
	}
	return schemas
}

// ResultSchema is the JSON Schema of what a call of t returns. The results of the
// tools that may do the work in its place are among them.
func (t *Tool) ResultSchema(others ...*Tool) *param.Schema {
	shared := SchemaOf(reflect.TypeFor[Shared]())
	shared.Description = "of a call that did nothing: refused, or failed before anything was done"
	planned := SchemaOf(reflect.TypeFor[plannedMeta]())
	planned.Description = "of a dry run"
	if t.Plan != nil {
		for i, p := range planned.Properties {
			if p.Name == "plan" {
				planned.Properties[i].Schema = SchemaOf(reflect.TypeOf(t.Plan))
			}
		}
	}
	add(planned, shared)
	var made []*param.Schema
	for _, one := range append([]*Tool{t}, others...) {
		own := SchemaOf(reflect.TypeOf(one.Metadata))
		own.Description = "of a call that was made"
		if one != t {
			own.Description = "of one that " + one.Name + " did in its place"
		}
		add(own, shared)
		made = append(made, own)
	}
	s := SchemaOf(reflect.TypeFor[wireResult]())
	s.Title = "what agentkit " + t.Name + " returns"
	for i, p := range s.Properties {
		if p.Name == "metadata" {
			s.Properties[i].Schema = &param.Schema{Type: "object", Description: p.Schema.Description, AnyOf: append(made, planned, shared)}
		}
	}
	return s
}

// add gives s the members of more that it has none of.
func add(s, more *param.Schema) {
	for _, p := range more.Properties {
		if !slices.ContainsFunc(s.Properties, func(own param.Property) bool { return own.Name == p.Name }) {
			s.Properties = append(s.Properties, p)
		}
	}
}

// SchemaOf is the JSON Schema of what encoding/json makes of a value of type t. The
// tag doc of a field describes it; a list is never null, and a member with
// omitempty may be absent.
func SchemaOf(t reflect.Type) *param.Schema { return schemaOf(t, nil) }

func schemaOf(t reflect.Type, within []reflect.Type) *param.Schema {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case t == reflect.TypeFor[Result]():
		t = reflect.TypeFor[wireResult]()
	case t == reflect.TypeFor[json.RawMessage]():
		return &param.Schema{}
	case t == reflect.TypeFor[Code]():
		s := &param.Schema{Type: "string"}
		for _, c := range Codes() {
			s.Enum = append(s.Enum, string(c))
		}
		return s
	case t == reflect.TypeFor[time.Time]():
		return &param.Schema{Type: "string", Format: "date-time"}
	case t == reflect.TypeFor[[]byte](), t.Implements(reflect.TypeFor[encoding.TextMarshaler]()):
		return &param.Schema{Type: "string"}
	}
	switch t.Kind() {
	case reflect.Bool:
		return &param.Schema{Type: "boolean"}
	case reflect.String:
		return &param.Schema{Type: "string"}
	case reflect.Float32, reflect.Float64:
		return &param.Schema{Type: "number"}
	case reflect.Slice, reflect.Array:
		return &param.Schema{Type: "array", Items: schemaOf(t.Elem(), within)}
	case reflect.Map:
		s := &param.Schema{Type: "object", Additional: schemaOf(t.Elem(), within)}
		s.Open = s.Additional.Type == ""
		if s.Open {
			s.Additional = nil
		}
		return s
	case reflect.Struct:
		s := &param.Schema{Type: "object"}
		members(s, t, append(slices.Clone(within), t), true)
		return s
	case reflect.Interface:
		return &param.Schema{}
	}
	return &param.Schema{Type: "integer"}
}

// nested reports whether t lies within one of its own kind, which lies in another.
func nested(within []reflect.Type, t reflect.Type) bool {
	at := slices.Index(within, t)
	return at >= 0 && slices.Contains(within[at+1:], t)
}

// members gives s what the fields of t become. A struct may lie in one of its own
// kind, once.
func members(s *param.Schema, t reflect.Type, within []reflect.Type, always bool) {
	for f := range t.Fields() {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		inner := f.Type
		for inner.Kind() == reflect.Pointer || inner.Kind() == reflect.Slice {
			inner = inner.Elem()
		}
		switch {
		case f.Anonymous && name == "":
			members(s, inner, within, always && f.Type.Kind() != reflect.Pointer)
		case !f.IsExported() || name == "" || name == "-" || nested(within, inner):
		default:
			m := schemaOf(f.Type, within)
			optional := strings.HasPrefix(options, "omit")
			m.Description, m.Nullable = f.Tag.Get("doc"), f.Type.Kind() == reflect.Pointer && !optional
			hidden := func(p param.Property) bool { return p.Name == name } // the same member of an embedded struct
			s.Properties = append(slices.DeleteFunc(s.Properties, hidden), param.Property{Name: name, Schema: m})
			s.Required = slices.DeleteFunc(s.Required, func(other string) bool { return other == name })
			if always && !optional {
				s.Required = append(s.Required, name)
			}
		}
	}
}
