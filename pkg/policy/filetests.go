package policy

import (
	"encoding/json"
	"fmt"
	"path/filepath"
)

// runTests checks the expectations that stand in the files. Each file is
// judged by itself over the built-in protections, as if it were trusted, at
// the sandbox level that the test names: so the answer is the same on every
// machine.
func runTests(s *Sources, specs []*fileSpec) (problems Problems) {
	if s.Tested {
		return nil
	}
	for _, spec := range specs {
		alone := *spec
		alone.trusted = true
		byLevel := map[int]*Policy{}
		for _, t := range spec.tests {
			p := byLevel[t.level]
			if p == nil {
				p = &Policy{world: newWorld(s), level: t.level, sandbox: "auto"}
				p.merge(s, []*fileSpec{&alone})
				if p.sandbox == "require" {
					p.level = max(p.level, 2) // nothing would run below it
				}
				byLevel[t.level] = p
			}
			if what := p.runTest(&t, s.Analyze); what != "" {
				problems = append(problems, &Problem{File: spec.name, Line: t.line, What: what})
			}
		}
	}
	return problems
}

// runTest returns what is wrong; "" when the policy decides as wanted.
func (p *Policy) runTest(t *testSpec, analyze func(string, json.RawMessage) ([]Access, error)) string {
	accesses, err := p.testAccesses(t, analyze)
	if err != nil {
		return "test: " + err.Error()
	}
	o := p.DecideAll(accesses)
	if o.Verdict == t.want {
		return ""
	}
	d := o.Deciding()
	return fmt.Sprintf("test: want %s, have %s: %s (%s, %s)", t.want, o.Verdict, d.Why, d.Rule, d.Where())
}

func (p *Policy) testAccesses(t *testSpec, analyze func(string, json.RawMessage) ([]Access, error)) ([]Access, error) {
	if t.args.kind == stringNode && (t.tool == "read" || t.tool == "edit") {
		return []Access{p.testFile(t.tool, t.args.text)}, nil
	}
	if analyze == nil {
		return nil, fmt.Errorf("nothing here can tell what a %s call needs", t.tool)
	}
	args, err := testArguments(t)
	if err != nil {
		return nil, err
	}
	return analyze(t.tool, args)
}

// testFile is the access of a path as it is written: tests hold for a policy
// wherever it is, so no link is followed.
func (p *Policy) testFile(tool, name string) Access {
	a := Access{Kind: Read, Tool: tool, Source: name}
	if tool == "edit" {
		a.Kind, a.Op = Write, Change
	}
	full := slashed(name)
	switch {
	case full == "~" || len(full) > 1 && full[:2] == "~/":
		full = p.home + full[1:]
	case !filepath.IsAbs(name) && (full == "" || full[0] != '/'):
		full = p.root + "/" + full
	}
	a.Path = slashed(filepath.Clean(filepath.FromSlash(full)))
	return a
}

// testArguments makes the arguments object of a test: a map as it is, text as
// the tool's main parameter.
func testArguments(t *testSpec) (json.RawMessage, error) {
	switch t.args.kind {
	case mapNode:
		return json.Marshal(t.args.plain())
	case stringNode:
		return json.Marshal(map[string]string{mainParameter(t.tool): t.args.text})
	}
	return nil, fmt.Errorf("the arguments of %s are text or a map, not %s", t.tool, t.args.kind)
}

func mainParameter(tool string) string {
	for _, p := range [...][2]string{
		{"bash", "command"},
		{"fetch", "url"},
		{"websearch", "query"},
		{"grep", "pattern"},
		{"glob", "pattern"},
		{"kill", "id"},
		{"input", "id"},
		{"output", "id"},
		{"patch", "patch"},
		{"script", "code"},
	} {
		if p[0] == tool {
			return p[1]
		}
	}
	return "path"
}
