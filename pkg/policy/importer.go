package policy

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
)

// An Imported is a policy made from another agent's settings.
type Imported struct {
	From  string   // claude, opencode or codex
	Text  string   // a policy file in YAML, with comments
	Rules int      // how many rules it has
	Notes []string // what could not be carried over as it was, and what became of it
}

// ErrForeign says that settings are of no form that is known.
var ErrForeign = errors.New("not settings of Claude Code, OpenCode or Codex")

// Import turns another agent's permission settings into a policy: Claude
// Code's settings.json, OpenCode's opencode.json, Codex's *.rules. from names
// the agent (claude, opencode, codex); "" finds out. The policy never allows
// what the settings do not: what cannot be said exactly is said more strictly,
// and noted.
func Import(name string, data []byte, from string, tools []string) (*Imported, error) {
	if from == "" {
		from = guessForeign(name, data)
	}
	im := &importer{tools: tools, profile: Workspace}
	var err error
	switch from {
	case "claude":
		err = im.claude(data)
	case "opencode":
		err = im.opencode(data)
	case "codex":
		err = im.codex(data)
	default:
		err = ErrForeign
	}
	if err != nil {
		return nil, fmt.Errorf("importing %s: %w", name, err)
	}
	out := &Imported{From: from, Text: im.text(name, from), Rules: len(im.rules), Notes: im.notes}
	w := newWorld(&Sources{Root: "/root", Home: "/home", Tools: tools})
	n, err := parse("policy.yaml", []byte(out.Text))
	if err != nil {
		return nil, fmt.Errorf("importing %s: the outcome does not load: %w", name, err)
	}
	if problems := w.readFile(&fileSpec{name: "policy.yaml"}, n); len(problems) > 0 {
		return nil, fmt.Errorf("importing %s: the outcome does not load: %w", name, problems)
	}
	return out, nil
}

func guessForeign(name string, data []byte) string {
	switch {
	case strings.HasSuffix(name, ".rules"), bytes.Contains(data, []byte("prefix_rule(")):
		return "codex"
	case bytes.Contains(data, []byte(`"permissions"`)):
		return "claude"
	case bytes.Contains(data, []byte(`"permission"`)):
		return "opencode"
	}
	return ""
}

// An importer gathers what settings say.
type importer struct {
	tools   []string
	profile Profile
	rules   []foreignRule
	notes   []string
	outside []string // lines of the outside section
}

// A foreignRule is one rule of ours and where it comes from.
type foreignRule struct {
	list   Verdict
	text   string
	except []string
	reason string
	source string // as the settings have it
}

func (im *importer) add(r foreignRule) {
	if !slices.ContainsFunc(im.rules, func(o foreignRule) bool {
		return o.list == r.list && o.text == r.text && slices.Equal(o.except, r.except)
	}) {
		im.rules = append(im.rules, r)
	}
}

func (im *importer) note(format string, args ...any) {
	im.notes = append(im.notes, fmt.Sprintf(format, args...))
}

// text prints the policy.
func (im *importer) text(name, from string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Carried over from %s (%s). Read it before you use it: the\n# program of a rule counts only where it lies in a trusted directory, and flags\n# that run or write something else are not granted with it.\nversion: 1\nprofile: %s\n", visible(path.Base(slashed(name))), from, im.profile)
	for _, list := range []Verdict{Allow, Ask, Deny} {
		first := true
		for _, r := range im.rules {
			if r.list != list {
				continue
			}
			if first {
				fmt.Fprintf(&b, "\n%s:\n", list)
				first = false
			}
			r.print(&b)
		}
	}
	if len(im.outside) > 0 {
		fmt.Fprintf(&b, "\noutside: {%s}\n", strings.Join(im.outside, ", "))
	}
	if len(im.notes) > 0 {
		b.WriteString("\n# Not carried over as it was:\n")
		for _, n := range im.notes {
			b.WriteString("#   " + visible(n) + "\n")
		}
	}
	return b.String()
}

func (r *foreignRule) print(b *strings.Builder) {
	comment := ""
	if r.source != "" {
		comment = " # " + visible(r.source)
	}
	if len(r.except) == 0 && r.reason == "" {
		fmt.Fprintf(b, "  - %s%s\n", yamlText(r.text), comment)
		return
	}
	fmt.Fprintf(b, "  - rule: %s%s\n", yamlText(r.text), comment)
	if r.reason != "" {
		fmt.Fprintf(b, "    reason: %s\n", jsonText(r.reason))
	}
	if len(r.except) > 0 {
		b.WriteString("    except:\n")
		for _, e := range r.except {
			fmt.Fprintf(b, "      - %s\n", yamlText(e))
		}
	}
}

// commandPattern turns a wildcard over a command's text into words; ok is
// false for what only a shell could take apart, and for a rule that stops where
// a star within a word may stand for several words.
func commandPattern(text string, list Verdict) (pattern string, ok bool) {
	text = strings.TrimSpace(text)
	if prefix, cut := strings.CutSuffix(text, ":*"); cut {
		text = prefix + " *"
	}
	if text == "" || text == "*" {
		return "*", true
	}
	if strings.ContainsAny(text, "'\"`\\$;&|<>(){}[]!#~?\n\t") {
		return "", false
	}
	var words []string
	fields := strings.Fields(text)
	for i, f := range fields {
		switch {
		case strings.Trim(f, "*") == "":
			if f = "*"; list == Allow && i < len(fields)-1 { // between blanks it is a word at least
				words = append(words, "?")
			}
		case strings.Contains(f, "**"), list != Allow && strings.Contains(strings.TrimSuffix(f, "*"), "*"):
			return "", false
		}
		words = append(words, f)
		if f != "*" && strings.HasSuffix(f, "*") { // a star of text goes on into the next words
			words = append(words, "*")
		}
	}
	if strings.HasPrefix(words[0], "*") && words[0] != "*" {
		return "", false
	}
	if name, _, assigns := strings.Cut(words[0], "="); assigns && isVariableName(name) {
		return "", false
	}
	return strings.Join(slices.CompactFunc(words, func(a, b string) bool { return a == "*" && b == "*" }), " "), true
}

// command adds a rule about commands. What cannot be said in words is not
// allowed, and asked about by its program where the settings stop it.
func (im *importer) command(list Verdict, text, source string, except []string) {
	pattern, ok := commandPattern(text, list)
	switch {
	case ok && pattern == "*" && list == Allow:
		im.add(foreignRule{list: list, text: "bash", source: source})
	case ok:
		im.add(foreignRule{list: list, text: "bash(" + pattern + ")", source: source, except: except})
	case list == Allow:
		im.note("%s: only a shell can take this apart, so it is not allowed", source)
	default:
		name, _, _ := strings.Cut(strings.TrimSpace(text), " ")
		if name == "" || strings.Trim(strings.ToLower(name), "abcdefghijklmnopqrstuvwxyz0123456789_-./+") != "" {
			im.add(foreignRule{list: list, text: "bash(*)", source: source, except: except})
			im.note("%s: only a shell can take this apart, so it holds for every command", source)
			return
		}
		im.add(foreignRule{list: list, text: "bash(" + name + " *)", source: source, except: except})
		im.note("%s: only a shell can take this apart, so it holds for everything that %s does", source, name)
	}
}

// jsonc takes the comments and trailing commas out of JSON.
func jsonc(data []byte) []byte {
	var out []byte
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case c == '"':
			j := i + 1
			for j < len(data) && data[j] != '"' {
				if data[j] == '\\' {
					j++
				}
				j++
			}
			out = append(out, data[i:min(j+1, len(data))]...)
			i = j
		case c == '/' && i+1 < len(data) && data[i+1] == '/':
			for i < len(data) && data[i] != '\n' {
				i++
			}
			out = append(out, '\n')
		case c == '/' && i+1 < len(data) && data[i+1] == '*':
			end := bytes.Index(data[i+2:], []byte("*/"))
			if end < 0 {
				return out
			}
			i += end + 3
		case c == '}' || c == ']':
			if t := bytes.TrimRight(out, " \t\r\n"); bytes.HasSuffix(t, []byte(",")) {
				out = t[:len(t)-1]
			}
			out = append(out, c)
		default:
			out = append(out, c)
		}
	}
	return out
}

// claudeSettings is what matters of Claude Code's settings.json.
type claudeSettings struct {
	Permissions *struct {
		Allow, Ask, Deny      []string
		DefaultMode           string   `json:"defaultMode"`
		AdditionalDirectories []string `json:"additionalDirectories"`
	}
}

// claude reads Claude Code's settings: deny beats ask beats allow, and what no
// rule mentions is asked about, but for reading.
func (im *importer) claude(data []byte) error {
	var s claudeSettings
	if err := json.Unmarshal(jsonc(data), &s); err != nil {
		return err
	}
	if s.Permissions == nil {
		return ErrForeign
	}
	p := s.Permissions
	for _, list := range []struct {
		v     Verdict
		rules []string
	}{{Allow, p.Allow}, {Ask, p.Ask}, {Deny, p.Deny}} {
		for _, text := range list.rules {
			im.claudeRule(list.v, text)
		}
	}
	for _, dir := range p.AdditionalDirectories {
		if pattern, ok := claudePath(dir, Allow); ok {
			im.add(foreignRule{list: Allow, text: "read(" + strings.TrimSuffix(pattern, "/") + "/**)", source: "additionalDirectories"})
			im.note("additionalDirectories %s: reading only; write edit(…) rules for what may change there", dir)
		}
	}
	return im.claudeMode(p.DefaultMode)
}

// claudeMode says what happens where no rule speaks.
func (im *importer) claudeMode(mode string) error {
	tools := []string{"bash", "edit", "fetch", "websearch"}
	switch mode {
	case "", "default", "delegate":
	case "acceptEdits":
		tools = []string{"bash", "fetch", "websearch"}
	case "plan":
		im.profile = ReadOnlyRoot
	case "dontAsk":
		im.note("defaultMode dontAsk: what no rule allows is asked about here, where a refusal is the answer when nobody can be asked")
	case "bypassPermissions":
		im.note("defaultMode bypassPermissions: not carried over; what no rule allows is asked about")
	default:
		im.note("defaultMode %s: not known; what no rule allows is asked about", mode)
	}
	for _, t := range tools {
		im.unlessAllowed(t)
	}
	return nil
}

// unlessAllowed has a tool ask about whatever no allow rule mentions.
func (im *importer) unlessAllowed(tool string) {
	r := foreignRule{list: Ask, text: tool, source: "what no rule mentions"}
	if tool == "bash" {
		r.text, r.except = "bash(*)", []string{"bash(readonly)"}
	}
	for _, a := range im.rules {
		if a.list != Allow {
			continue
		}
		if a.text == tool {
			return
		}
		if strings.HasPrefix(a.text, tool+"(") {
			r.except = append(r.except, a.text)
		}
	}
	im.add(r)
}

// claudeTools are the names that its rules have for our tools.
var claudeTools = [...][2]string{
	{"Bash", "bash"},
	{"Edit", "edit"},
	{"Glob", "glob"},
	{"Grep", "grep"},
	{"LS", "ls"},
	{"MultiEdit", "edit"},
	{"NotebookEdit", "edit"},
	{"Read", "read"},
	{"WebFetch", "fetch"},
	{"WebSearch", "websearch"},
	{"Write", "edit"},
}

func (im *importer) claudeRule(list Verdict, text string) {
	name, arg, hasArg := strings.Cut(strings.TrimSpace(text), "(")
	arg = strings.TrimSuffix(arg, ")")
	source := text
	tool := ""
	for _, t := range claudeTools {
		if t[0] == name {
			tool = t[1]
		}
	}
	switch {
	case tool == "" || !slices.Contains(ruleTools(), tool) && !slices.Contains(im.tools, tool):
		im.note("%s %s: there is no such tool here", list, source)
	case tool == "bash":
		if !hasArg {
			arg = "*"
		}
		im.command(list, arg, source, nil)
	case !hasArg || arg == "*" || arg == "**":
		im.add(foreignRule{list: list, text: tool, source: source})
	case tool == "read" || tool == "edit":
		pattern, ok := claudePath(arg, list)
		if !ok {
			im.unsaid(list, tool, source)
			return
		}
		im.add(foreignRule{list: list, text: tool + "(" + pattern + ")", source: source})
	case tool == "fetch":
		im.claudeFetch(list, arg, source)
	default:
		im.unsaid(list, tool, source)
	}
}

// unsaid stands for a rule that cannot be said: nothing is allowed by it, and
// what it stops is stopped for the whole tool.
func (im *importer) unsaid(list Verdict, tool, source string) {
	if list == Allow {
		im.note("%s: cannot be said here, so it is not allowed", source)
		return
	}
	im.add(foreignRule{list: list, text: tool, source: source})
	im.note("%s: cannot be said here, so it holds for all of %s", source, tool)
}

func (im *importer) claudeFetch(list Verdict, arg, source string) {
	host, ok := strings.CutPrefix(arg, "domain:")
	plain := host != "" && strings.Trim(strings.ToLower(strings.TrimPrefix(host, "*.")), "abcdefghijklmnopqrstuvwxyz0123456789.-") == ""
	switch {
	case !ok || !plain:
		im.unsaid(list, "fetch", source)
	case list == Allow && !strings.HasPrefix(host, "*."):
		im.add(foreignRule{list: list, text: "fetch(https://" + host + "/**)", source: source})
	default:
		im.add(foreignRule{list: list, text: "fetch(domain:" + strings.TrimPrefix(host, "*.") + ")", source: source})
	}
}

// claudePath turns a path pattern as in .gitignore: // is the root of the file
// system, / the project, and a name without a slash stands at any depth.
func claudePath(s string, list Verdict) (pattern string, ok bool) {
	if strings.ContainsAny(s, "[]{}!\\\n") || s == "" {
		return "", false
	}
	switch {
	case strings.HasPrefix(s, "//"):
		s = s[1:]
	case strings.HasPrefix(s, "~/"):
	case strings.HasPrefix(s, "/"):
		s = s[1:]
	case strings.HasPrefix(s, "./"):
		s = s[2:]
	case !strings.Contains(strings.TrimSuffix(s, "/"), "/"):
		s = "**/" + s
	}
	if strings.Contains(s, "..") || s == "" {
		return "", false
	}
	if strings.HasSuffix(s, "/") {
		s += "**"
	} else if list == Allow && strings.HasSuffix(s, "**") && !strings.HasSuffix(s, "/**") {
		return "", false
	}
	return s, true
}
