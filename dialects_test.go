package main

import (
	"encoding/json"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/agentkit-go/agentkit/cmd"
	"github.com/agentkit-go/agentkit/pkg/dialect"
	"github.com/agentkit-go/agentkit/pkg/param"
)

// TestDialects checks that what a dialect says of our tools is so: each row leads to a
// parameter that there is, under its own name.
func TestDialects(t *testing.T) {
	name := regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`) // what every provider takes
	for _, d := range dialects(t) {
		known := map[string]bool{}
		for i := range d.Tools {
			one := &d.Tools[i]
			ours, err := cmd.Tools.Find(one.To)
			if err != nil {
				t.Fatalf("%s: %s: %v", d.Name, one.Name, err)
			}
			has := func(to string) bool {
				return slices.ContainsFunc(param.Of(ours.New()).Params, func(p *param.Param) bool { return p.Name == to })
			}
			for to := range one.Const {
				if !has(to) {
					t.Errorf("%s: %s sets %s, which %s does not have", d.Name, one.Name, to, one.To)
				}
			}
			for _, p := range one.Params {
				if p.To != "" && !has(p.To) {
					t.Errorf("%s: %s sends %s as %s, which %s does not have", d.Name, one.Name, p.Name, p.To, one.To)
				}
				if p.Usage == "" || !name.MatchString(p.Name) {
					t.Errorf("%s: %s: the parameter %q, %q", d.Name, one.Name, p.Name, p.Usage)
				}
			}
			for _, called := range append(strings.Fields(one.Also), one.Name) {
				if key := called + " " + one.Only; known[key] || !name.MatchString(called) {
					t.Errorf("%s: the name %q stands there twice, or is none", d.Name, called)
				} else {
					known[key] = true
				}
			}
			if one.Told == "" {
				t.Errorf("%s: nothing is told of %s", d.Name, one.Name)
			}
			if raw, err := json.Marshal(one.Schema()); err != nil || !json.Valid(raw) {
				t.Errorf("%s: %s: %s, %v", d.Name, one.Name, raw, err)
			}
		}
	}
}

// TestDialectsAreAnnotated: whatever name a platform or an agent has for a tool, a client that asks
// before what changes something is told the same of it as of ours.
func TestDialectsAreAnnotated(t *testing.T) {
	declared := func(args ...string) map[string]map[string]any {
		var list []struct {
			Name        string
			Annotations map[string]any
		}
		if err := json.Unmarshal(output(t, append(args, "tools", "--format", "mcp")...), &list); err != nil || len(list) == 0 {
			t.Fatal(args, err)
		}
		all := map[string]map[string]any{}
		for _, one := range list {
			delete(one.Annotations, "title")
			all[one.Name] = one.Annotations
		}
		return all
	}
	ours := declared()
	for _, d := range dialects(t) {
		theirs := declared("--dialect", d.Name)
		for _, one := range d.Listed() {
			if got, want := theirs[one.Name], ours[one.To]; len(want) == 0 || !reflect.DeepEqual(got, want) {
				t.Errorf("%s: %s is said to be %v, and %s %v", d.Name, one.Name, got, one.To, want)
			}
		}
	}
}

func dialects(t *testing.T) []*dialect.Dialect {
	t.Helper()
	var list []*dialect.Dialect
	for _, name := range dialect.Names() {
		d, err := dialect.Find(name)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, d)
	}
	return list
}
