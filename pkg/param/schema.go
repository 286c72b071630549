package param

import (
	"bytes"
	"encoding/json"
)

// A Schema is the part of JSON Schema (draft 2020-12) that parameters need.
// It is marshalled with its members in a fixed order, so that its text is
// stable.
type Schema struct {
	Title       string
	Type        string // object, array, string, integer, number or boolean; "" for any
	Format      string // of a string
	Nullable    bool   // null is accepted too
	Description string
	Enum        []string
	Default     json.RawMessage
	Minimum     *float64
	Maximum     *float64
	Items       *Schema    // of an array
	Properties  []Property // of an object
	Required    []string
	Additional  *Schema // of an object: what members of other names must be
	Open        bool    // of an object: any members are accepted
	Loose       bool    // of an object: say nothing about members of other names
	AnyOf       []*Schema
}

// A Property is a named member of an object.
type Property struct {
	Name   string
	Schema *Schema
	Rare   bool
}

// endless is where a number is as good as without a limit: who reads the schema
// learns nothing from it.
const endless = 1 << 26

// Schema returns the schema of the object that Decode accepts.
func (s *Set) Schema() *Schema {
	o := &Schema{Type: "object"}
	for _, p := range s.Params {
		if p.Silent {
			continue
		}
		f := p.schema()
		f.Description = p.Usage
		if f.Items != nil {
			f.Items.Enum = p.Enum
		} else {
			f.Enum = p.Enum
		}
		if p.bounded && p.Min > -1<<53 {
			f.Minimum = &p.Min
		}
		if p.bounded && p.Max < endless {
			f.Maximum = &p.Max
		}
		if p.Must {
			o.Required = append(o.Required, p.Name)
		} else {
			f.Default = p.defaultJSON()
		}
		o.Properties = append(o.Properties, Property{p.Name, f, p.Seldom})
	}
	return o
}

// defaultJSON is p's value before the call, where saying it helps: not for
// lists, nor for texts that are empty.
func (p *Param) defaultJSON() json.RawMessage {
	if p.list() || p.given || p.text() == "" || p.typeName() == "json" {
		return nil
	}
	if p.typeName() == "string" {
		raw, _ := json.Marshal(p.text())
		return raw
	}
	return json.RawMessage(p.text())
}

// MarshalJSON implements json.Marshaler.
func (s *Schema) MarshalJSON() ([]byte, error) {
	var o object
	if s.Title != "" {
		o.add("title", s.Title)
	}
	switch {
	case s.Type == "":
	case s.Nullable:
		o.add("type", []string{s.Type, "null"})
	default:
		o.add("type", s.Type)
	}
	if s.Description != "" {
		o.add("description", s.Description)
	}
	if s.Enum != nil {
		words := make([]any, 0, len(s.Enum)+1)
		for _, w := range s.Enum {
			words = append(words, w)
		}
		if s.Nullable {
			words = append(words, nil)
		}
		o.add("enum", words)
	}
	if s.Default != nil {
		o.add("default", s.Default)
	}
	if s.Minimum != nil {
		o.add("minimum", *s.Minimum)
	}
	if s.Maximum != nil {
		o.add("maximum", *s.Maximum)
	}
	if s.Items != nil {
		o.add("items", s.Items)
	}
	if s.Format != "" {
		o.add("format", s.Format)
	}
	switch {
	case s.AnyOf != nil:
		o.add("anyOf", s.AnyOf)
	case s.Type == "object":
		s.members(&o)
	}
	return o.done()
}

func (s *Schema) members(o *object) {
	if s.Additional == nil && !s.Open {
		var props object
		for _, p := range s.Properties {
			props.add(p.Name, p.Schema)
		}
		o.add("properties", &props)
	}
	if len(s.Required) > 0 {
		o.add("required", s.Required)
	}
	switch {
	case s.Additional != nil:
		o.add("additionalProperties", s.Additional)
	case !s.Open && !s.Loose:
		o.add("additionalProperties", false)
	}
}

// An object is a JSON object being written, its members in the order added.
type object struct {
	buf bytes.Buffer
	err error
}

func (o *object) add(name string, v any) {
	if o.buf.Len() > 0 {
		o.buf.WriteByte(',')
	}
	key, _ := json.Marshal(name)
	var val bytes.Buffer
	enc := json.NewEncoder(&val)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil && o.err == nil {
		o.err = err
	}
	o.buf.Write(key)
	o.buf.WriteByte(':')
	o.buf.Write(bytes.TrimSpace(val.Bytes()))
}

func (o *object) done() ([]byte, error) {
	return append(append([]byte{'{'}, o.buf.Bytes()...), '}'), o.err
}

// MarshalJSON implements json.Marshaler.
func (o *object) MarshalJSON() ([]byte, error) { return o.done() }
