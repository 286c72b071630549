package policy

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A fileSpec is what one policy file says.
type fileSpec struct {
	name    string
	layer   Layer
	trusted bool // what it allows counts
	hash    string
	rules   []ruleSpec
	chosen  []choice
	sandbox string
	limits  Limits
	undo    Undo
	pass    []string
	drop    []string
	tests   []testSpec
}

// A choice is a setting: a whole profile, or one cell of the table.
type choice struct {
	profile Profile
	whole   bool
	cell    cell
	verdict Verdict
	rule    string
	line    int
}

// A testSpec is one entry of tests.
type testSpec struct {
	tool  string
	args  *node // text, or a map of arguments
	want  Verdict
	level int
	line  int
}

// Limits are the most that a call may take; zero means nobody set it.
type Limits struct {
	TimeoutMS   int // milliseconds
	OutputBytes int
	Processes   int // that a confined command may have at a time, threads counted
	FileBytes   int // of one file that it writes
	MemoryBytes int // of one process of it
	TotalBytes  int // of memory that all its processes hold together
}

// Undo says what is kept of that which commands take away, so that it can be brought
// back; zero values mean nobody said it.
type Undo struct {
	Commands string        // destructive, all or off
	MaxBytes int           // of all that a session keeps so
	Keep     time.Duration // how long
}

// A reader turns nodes into a fileSpec and collects what is wrong.
type reader struct {
	*fileSpec
	w        *world
	problems Problems
}

// A field is a key that a map may have.
type field struct {
	name string
	read func(*reader, *node)
}

// topFields are the keys of a policy file.
func topFields() []field {
	return []field{
		{"version", (*reader).version},
		{"profile", (*reader).profile},
		{"allow", func(r *reader, n *node) { r.list(n, Allow) }},
		{"ask", func(r *reader, n *node) { r.list(n, Ask) }},
		{"deny", func(r *reader, n *node) { r.list(n, Deny) }},
		{"protect", (*reader).protect},
		{"network", func(r *reader, n *node) { r.fields(n, networkFields()) }},
		{"outside", func(r *reader, n *node) { r.fields(n, outsideFields()) }},
		{"env", func(r *reader, n *node) { r.fields(n, envFields()) }},
		{"sandbox", (*reader).sandboxMode},
		{"undo", func(r *reader, n *node) { r.fields(n, undoFields()) }},
		{"limits", func(r *reader, n *node) { r.fields(n, limitFields()) }},
		{"tests", (*reader).testList},
	}
}

func networkFields() []field {
	return []field{
		{"default", func(r *reader, n *node) { r.choose(n, "network.default", netCommand); r.choosePublishing(n) }},
		{"allow", func(r *reader, n *node) { r.hosts(n, Allow) }},
		{"ask", func(r *reader, n *node) { r.hosts(n, Ask) }},
		{"deny", func(r *reader, n *node) { r.hosts(n, Deny) }},
		{"publish", (*reader).ports},
	}
}

func outsideFields() []field {
	return []field{
		{"read", func(r *reader, n *node) { r.choose(n, "outside.read", readOutside) }},
		{"write", func(r *reader, n *node) { r.choose(n, "outside.write", writeOutside, commandOutside) }},
	}
}

func envFields() []field {
	return []field{
		{"pass", func(r *reader, n *node) { r.pass = r.variables(n) }},
		{"drop", func(r *reader, n *node) { r.drop = r.variables(n) }},
	}
}

func limitFields() []field {
	return []field{
		{"timeout_ms", func(r *reader, n *node) { r.limits.TimeoutMS = r.count(n) }},
		{"output_bytes", func(r *reader, n *node) { r.limits.OutputBytes = r.count(n) }},
		{"processes", func(r *reader, n *node) { r.limits.Processes = r.count(n) }},
		{"file_bytes", func(r *reader, n *node) { r.limits.FileBytes = r.count(n) }},
		{"memory_bytes", func(r *reader, n *node) { r.limits.MemoryBytes = r.count(n) }},
		{"total_memory_bytes", func(r *reader, n *node) { r.limits.TotalBytes = r.count(n) }},
	}
}

func undoFields() []field {
	return []field{
		{"commands", func(r *reader, n *node) { r.undo.Commands = r.oneOf(n, UndoDestructive, UndoAll, UndoOff) }},
		{"max_bytes", func(r *reader, n *node) { r.undo.MaxBytes = r.count(n) }},
		{"keep", func(r *reader, n *node) { r.undo.Keep = r.days(n) }},
	}
}

// What undo.commands may say.
const (
	UndoDestructive = "destructive" // what a command is known to take away is kept
	UndoAll         = "all"         // what every other command changes is noted, too
	UndoOff         = "off"         // nothing is kept, and what would be lost asks
)

func ruleFields(rule *ruleSpec) []field {
	return []field{
		{"rule", func(r *reader, n *node) { rule.text, rule.line = r.word(n), n.line }},
		{"reason", func(r *reader, n *node) { rule.reason = r.word(n) }},
		{"except", func(r *reader, n *node) { rule.except = r.words(n) }},
	}
}

// readFile turns a parsed file into a spec.
func (w *world) readFile(spec *fileSpec, n *node) Problems {
	r := reader{fileSpec: spec, w: w}
	r.fields(n, topFields())
	return r.problems
}

func (r *reader) problem(line int, what string) {
	if len(r.problems) < 50 {
		r.problems = append(r.problems, &Problem{File: r.name, Line: line, What: what})
	}
}

// fields reads a map by a table; unknown keys are problems.
func (r *reader) fields(n *node, table []field) {
	if n.kind == nullNode {
		return
	}
	if n.kind != mapNode {
		r.problem(n.line, "want a map, have "+n.kind.String())
		return
	}
	for i, key := range n.keys {
		if at := fieldNamed(table, key.text); at != nil {
			at.read(r, n.items[i])
			continue
		}
		r.problem(key.line, "unknown key "+visible(key.text))
		r.problems[len(r.problems)-1].Near = near(key.text, fieldNames(table))
	}
}

func fieldNamed(table []field, name string) *field {
	for i := range table {
		if table[i].name == name {
			return &table[i]
		}
	}
	return nil
}

func fieldNames(table []field) (names []string) {
	for _, f := range table {
		names = append(names, f.name)
	}
	return names
}

// word reads one text.
func (r *reader) word(n *node) string {
	if n.kind != stringNode {
		r.problem(n.line, "want text, have "+n.kind.String())
		return ""
	}
	return n.text
}

// words reads a list of texts, or one.
func (r *reader) words(n *node) (words []string) {
	switch n.kind {
	case nullNode:
	case stringNode:
		return []string{n.text}
	case listNode:
		for _, item := range n.items {
			words = append(words, r.word(item))
		}
	default:
		r.problem(n.line, "want a list, have "+n.kind.String())
	}
	return words
}

func (r *reader) count(n *node) int {
	v, err := strconv.Atoi(n.text)
	if n.kind != numberNode || err != nil || v < 1 {
		r.problem(n.line, "want a whole number above zero")
		return 0
	}
	return v
}

// days reads how long: a number with d for days, h for hours or m for minutes.
func (r *reader) days(n *node) time.Duration {
	text := n.text
	if number, ok := strings.CutSuffix(text, "d"); ok {
		if v, err := strconv.Atoi(number); err == nil && v > 0 && v <= 3650 {
			return time.Duration(v) * 24 * time.Hour
		}
	}
	d, err := time.ParseDuration(text)
	if n.kind != stringNode || err != nil || d < time.Minute {
		r.problem(n.line, "want a time such as 7d or 12h")
		return 0
	}
	return d
}

// oneOf reads a text that is one of a few.
func (r *reader) oneOf(n *node, known ...string) string {
	s := r.word(n)
	if slices.Contains(known, s) {
		return s
	}
	if n.kind == stringNode {
		r.problem(n.line, "unknown value "+visible(s)+", want "+strings.Join(known, ", "))
		r.problems[len(r.problems)-1].Near = near(s, known)
	}
	return ""
}

func (r *reader) version(n *node) {
	if n.text != "1" || n.kind != numberNode && n.kind != stringNode {
		r.problem(n.line, "only version 1 is known")
	}
}

func (r *reader) profile(n *node) {
	if p, ok := parseProfile(r.oneOf(n, Profiles()...)); ok {
		r.chosen = append(r.chosen, choice{profile: p, whole: true, line: n.line})
	}
}

// choose reads a verdict for some cells.
func (r *reader) choose(n *node, rule string, list ...cell) {
	v, ok := ParseVerdict(r.oneOf(n, "allow", "ask", "deny"))
	for _, c := range list {
		if ok {
			r.chosen = append(r.chosen, choice{cell: c, verdict: v, rule: rule + ": " + v.String(), line: n.line})
		}
	}
}

// choosePublishing has what denies the network or asks about it do so for
// publishing, too; what allows it says nothing of that.
func (r *reader) choosePublishing(n *node) {
	if v, ok := ParseVerdict(n.text); ok && n.kind == stringNode && v != Allow {
		r.chosen = append(r.chosen, choice{cell: netPublish, verdict: v, rule: "network.default: " + v.String(), line: n.line})
	}
}

func (r *reader) sandboxMode(n *node) { r.sandbox = r.oneOf(n, "auto", "require", "off", "outer") }

// list reads allow, ask or deny.
func (r *reader) list(n *node, v Verdict) {
	if n.kind == nullNode {
		return
	}
	if n.kind != listNode {
		r.problem(n.line, "want a list of rules, have "+n.kind.String())
		return
	}
	for _, item := range n.items {
		s := ruleSpec{list: v, file: r.name, line: item.line, layer: r.layer}
		switch item.kind {
		case stringNode:
			s.text = item.text
		case mapNode:
			r.fields(item, ruleFields(&s))
			if item.get("rule") == nil {
				r.problem(item.line, "the entry has no rule")
				continue
			}
		default:
			r.problem(item.line, "want TOOL(PATTERN), have "+item.kind.String())
			continue
		}
		if item.kind == stringNode && strings.TrimSpace(s.text) == "" {
			r.problem(item.line, "an empty rule: want TOOL or TOOL(PATTERN)")
			continue
		}
		r.add(s)
	}
}

// add checks a rule's text at once, so that its problem has its line.
func (r *reader) add(s ruleSpec) {
	if s.text == "" {
		return // reported already
	}
	if _, err := r.w.compile(s); err != nil {
		p := ruleProblem(s, err)
		r.problems = append(r.problems, p)
		return
	}
	r.rules = append(r.rules, s)
}

func ruleProblem(s ruleSpec, err error) *Problem {
	p := &Problem{File: s.file, Line: s.line, What: "rule " + visible(s.text) + ": " + err.Error()}
	if e, ok := errors.AsType[*nameError](err); ok {
		p.Near = near(e.name, e.known)
	}
	return p
}

func (r *reader) protect(n *node) {
	for _, pattern := range r.words(n) {
		r.add(ruleSpec{list: Deny, text: "edit(" + pattern + ")", file: r.name, line: lineOf(n, pattern), layer: r.layer, guard: true})
	}
}

// ports reads those that every job publishes.
func (r *reader) ports(n *node) {
	if n.kind != listNode {
		r.problem(n.line, "want a list of ports, have "+n.kind.String())
		return
	}
	for _, item := range n.items {
		if port := r.count(item); port > 65535 {
			r.problem(item.line, errPort.Error())
		} else if port > 0 {
			r.add(ruleSpec{list: Allow, text: PublishTool + "(" + strconv.Itoa(port) + ")", file: r.name, line: item.line, layer: r.layer})
		}
	}
}

func (r *reader) hosts(n *node, v Verdict) {
	for _, host := range r.words(n) {
		r.add(ruleSpec{list: v, text: "net(" + host + ")", file: r.name, line: lineOf(n, host), layer: r.layer})
	}
}

// lineOf finds the line of a list's entry.
func lineOf(n *node, text string) int {
	for _, item := range n.items {
		if item.text == text {
			return item.line
		}
	}
	return n.line
}

func (r *reader) variables(n *node) []string {
	names := r.words(n)
	for _, name := range names {
		if !isVariableName(strings.ReplaceAll(name, "*", "_")) {
			r.problem(n.line, "want a variable's name, perhaps with *, have "+visible(name))
		}
	}
	return names
}

// testList reads tests: {TOOL: arguments, want: verdict}, with level for the
// sandbox level that the expectation counts on (0 when it is not given).
func (r *reader) testList(n *node) {
	if n.kind == nullNode {
		return
	}
	if n.kind != listNode {
		r.problem(n.line, "want a list of tests, have "+n.kind.String())
		return
	}
	for _, item := range n.items {
		if item.kind != mapNode {
			r.problem(item.line, "want {TOOL: arguments, want: allow|ask|deny}")
			continue
		}
		r.test(item)
	}
}

func (r *reader) test(item *node) {
	t := testSpec{line: item.line}
	want := false
	for i, key := range item.keys {
		value := item.items[i]
		switch {
		case key.text == "want":
			t.want, want = ParseVerdict(r.oneOf(value, "allow", "ask", "deny"))
		case key.text == "level":
			level, err := strconv.Atoi(value.text)
			if t.level = level; err != nil || level < 0 || level > 3 {
				r.problem(key.line, "a level is 0, 1, 2 or 3")
			}
		case !r.w.knowsTool(key.text) || key.text == "*":
			r.problem(key.line, "unknown tool "+visible(key.text))
			r.problems[len(r.problems)-1].Near = near(key.text, append(r.w.toolNames(), "want", "level"))
		case t.tool != "":
			r.problem(key.line, "a test is about one tool")
		default:
			t.tool, t.args = key.text, value
		}
	}
	if t.tool == "" || !want {
		r.problem(item.line, "want {TOOL: arguments, want: allow|ask|deny}")
		return
	}
	r.tests = append(r.tests, t)
}
