package policy

import (
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"strings"
)

// commandTool is the tool whose accesses are those of shell commands. What
// other tools touch, they touch themselves, outside the sandbox.
const commandTool = "bash"

// PublishTool is the tool of the rules for ports of a session that the machine's own
// loopback is to answer at: publish(3000).
const PublishTool = "publish"

// A ruleSpec is a rule as it stands in a file.
type ruleSpec struct {
	list   Verdict
	text   string // tool(pattern)
	reason string
	except []string
	file   string
	line   int
	layer  Layer
	grant  bool // --allow: for this call alone
	guard  bool // from protect: matched as the built-in protections are
}

// A rule is a compiled ruleSpec.
type rule struct {
	ruleSpec
	matcher
	except []matcher
	why    string
	means  *pathGlob // an allow rule's path, folded; see names
}

// A matcher is a compiled tool(pattern).
type matcher struct {
	tool    string // bash, read, edit, fetch, net, *, or any other tool
	bare    bool   // no pattern
	class   class
	words   []word
	exact   bool     // every word is literal
	options uint64   // the set of words that spell options
	valued  string   // options of its program whose value is the next word; see [programs.Record]
	same    *matcher // the same pattern in usual words; nil where it has them
	prog    string   // the one program that an absolute first word means
	alias   string   // what prog links to, when it lies in a trusted directory
	path    *pathGlob
	url     *urlGlob
	name    *word // for other tools: what they act on
}

// A class is a built-in set of commands: bash(readonly) and its like.
type class uint8

const (
	noClass class = iota
	classReadOnly
	classDangerous
	classSandboxed
)

// ruleTools are the tools that rules always know; others come from the caller.
func ruleTools() []string {
	return []string{"bash", "read", "edit", "fetch", "websearch", "net", PublishTool, "*"}
}

var (
	errForm     = errors.New("want TOOL or TOOL(PATTERN)")
	errStar     = errors.New("* stands for every tool and takes no pattern")
	errAssign   = errors.New("an assignment pattern is one word, NAME=VALUE")
	errTool     = errors.New("unknown tool")
	errNetworks = errors.New("net needs a host: net(example.org)")
)

// splitRule cuts "tool(pattern)"; bare tells that there are no parentheses.
func splitRule(text string) (tool, pattern string, bare bool, err error) {
	text = strings.TrimSpace(text)
	tool, rest, hasPattern := strings.Cut(text, "(")
	if !hasPattern {
		if !isToolName(tool) {
			return "", "", false, errForm
		}
		return tool, "", true, nil
	}
	pattern, closed := strings.CutSuffix(rest, ")")
	tool = strings.TrimSpace(tool)
	switch {
	case !closed || !isToolName(tool):
		return "", "", false, errForm
	case tool == "*":
		return "", "", false, errStar
	case strings.TrimSpace(pattern) == "":
		return "", "", false, errEmpty
	}
	return tool, strings.TrimSpace(pattern), false, nil
}

func isToolName(s string) bool {
	if s == "*" {
		return true
	}
	for i := 0; i < len(s); i++ {
		c := s[i]
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-' || c == '.' || c == ':' || c == '/') {
			return false
		}
	}
	return s != ""
}

// compile turns a spec into a rule, or says what is wrong with its text.
func (w *world) compile(s ruleSpec) (*rule, error) {
	r := &rule{ruleSpec: s}
	var err error
	if r.matcher, err = w.matcher(s.text, s.list != Allow, s.guard); err != nil {
		return nil, err
	}
	if r.path != nil && s.list == Allow {
		_, pattern, _, _ := splitRule(s.text)
		if r.means, err = parsePath(pattern, w.root, w.home, false, true); err != nil {
			return nil, err
		}
	}
	for _, text := range s.except {
		if !strings.Contains(text, "(") && !r.bare {
			text = r.tool + "(" + text + ")"
		}
		m, err := w.matcher(text, s.list == Allow, s.guard)
		if err != nil {
			return nil, fmt.Errorf("except %q: %w", text, err)
		}
		if m.tool != r.tool {
			return nil, fmt.Errorf("except %q: the rule is about %s", text, r.tool)
		}
		r.except = append(r.except, m)
	}
	r.why = "matches " + s.list.String() + " rule " + s.text
	if s.guard {
		r.why = "protected by the policy"
	}
	return r, nil
}

// matcher compiles tool(pattern). cover makes paths match what lies below
// them too, as deny and ask rules do.
func (w *world) matcher(text string, cover, guard bool) (m matcher, err error) {
	tool, pattern, bare, err := splitRule(text)
	if err != nil {
		return m, err
	}
	if !w.knowsTool(tool) {
		return m, &nameError{errTool, tool, w.toolNames()}
	}
	m.tool, m.bare = tool, bare
	if bare {
		if tool == "net" {
			return m, errNetworks
		}
		return m, nil
	}
	fold := guard || cover && foldsCase
	switch tool {
	case commandTool:
		err = w.command(&m, pattern)
	case "read", "edit":
		m.path, err = parsePath(pattern, w.root, w.home, cover, fold)
	case "fetch", "websearch":
		m.url, err = parseURLGlob(pattern, false)
	case "net":
		if m.url = w.preset(pattern); m.url == nil {
			m.url, err = parseURLGlob(pattern, true)
		}
	default:
		err = w.other(&m, pattern, cover, fold)
	}
	return m, err
}

// command compiles a bash pattern.
func (w *world) command(m *matcher, pattern string) (err error) {
	switch pattern {
	case "readonly":
		m.class = classReadOnly
	case "dangerous":
		m.class = classDangerous
	case "sandboxed":
		m.class = classSandboxed
	}
	if m.class != noClass {
		return nil
	}
	if m.words, err = parseWords(pattern); err != nil {
		return err
	}
	m.exact, m.options = literalWords(m.words), optionWords(m.words)
	m.valued = record(m.words[0].text).Valued
	first := &m.words[0]
	if name, _, ok := strings.Cut(first.text, "="); ok && isVariableName(name) {
		if len(m.words) > 1 {
			return errAssign
		}
		return nil
	}
	if first.kind == literalWord && strings.ContainsAny(slashed(first.text), "/") {
		m.prog = w.program(slashed(first.text))
		m.alias = w.target(m.prog)
	}
	m.same = m.usual()
	return nil
}

// program makes the first word of a pattern absolute.
func (w *world) program(name string) string {
	if rest, ok := strings.CutPrefix(name, "~/"); ok {
		return path.Join(slashed(w.home), rest)
	}
	if name[0] == '/' || isDrive(name) {
		return path.Clean(name)
	}
	return path.Join(slashed(w.root), name)
}

// target follows the links of a program in a trusted directory: there they
// are the administrator's. Elsewhere a link may be anybody's.
func (w *world) target(prog string) string {
	if !w.trusts(prog) {
		return ""
	}
	real, err := filepath.EvalSymlinks(filepath.FromSlash(prog))
	if err != nil {
		return ""
	}
	return slashed(real)
}

// other compiles a pattern of a tool that may touch files, hosts or neither.
func (w *world) other(m *matcher, pattern string, cover, fold bool) error {
	if strings.Contains(pattern, "://") || strings.HasPrefix(pattern, "domain:") {
		var err error
		m.url, err = parseURLGlob(pattern, false)
		return err
	}
	m.name = &word{text: pattern}
	if strings.Contains(pattern, "*") {
		m.name = &word{kind: globWord, text: pattern, parts: strings.Split(pattern, "*")}
	}
	var err error
	m.path, err = parsePath(pattern, w.root, w.home, cover, fold)
	return err
}

func isVariableName(s string) bool {
	if s == "" || s[0] >= '0' && s[0] <= '9' {
		return false
	}
	return strings.Trim(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_*") == ""
}

// A nameError is an unknown word where only some are known.
type nameError struct {
	err   error
	name  string
	known []string
}

func (e *nameError) Error() string { return e.err.Error() + " " + visible(e.name) }

// assignment reports whether the matcher is about variables, not programs.
func (m *matcher) assignment() bool {
	return m.tool == commandTool && len(m.words) == 1 && strings.Contains(m.words[0].text, "=")
}

// indexName returns the lower-case program name that an access must have for
// the matcher to apply; "" when any may.
func (m *matcher) indexName() string {
	if m.bare || m.class != noClass || m.tool != commandTool || m.words[0].kind != literalWord {
		return ""
	}
	return programName(m.words[0].text)
}

// programName returns the name that a program goes by: its base, folded,
// without the endings that Windows does not ask for.
func programName(p string) string {
	p = slashed(p)
	name := strings.ToLower(p[strings.LastIndexByte(p, '/')+1:])
	for _, ext := range [...]string{".exe", ".com", ".cmd", ".bat"} {
		if cut, ok := strings.CutSuffix(name, ext); ok && cut != "" {
			return cut
		}
	}
	return name
}
