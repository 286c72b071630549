package policy

import (
	"bytes"
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
// Code's settings.json, OpenCode's opencode.json, Codex's config.toml or *.rules. from names
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
		err = im.codex(name, data)
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
	case strings.HasSuffix(name, ".rules"), strings.HasSuffix(name, ".toml"), bytes.Contains(data, []byte("prefix_rule(")):
		return "codex"
	case bytes.Contains(data, []byte(`"permissions"`)):
		return "claude"
	case bytes.Contains(data, []byte(`"permission"`)), strings.HasPrefix(path.Base(slashed(name)), "opencode.json"):
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

	sections []string // others, a line each
}

// A foreignRule is one rule of ours and where it comes from.
type foreignRule struct {
	list   Verdict
	text   string
	except []string
	reason string
	source string // as the settings have it
}

// add adds a rule. No pattern of ours has control characters: what is allowed with
// them is left out, and what asks or denies takes anything in their place.
func (im *importer) add(r foreignRule) {
	r.except = slices.DeleteFunc(r.except, func(e string) bool { return strings.ContainsFunc(e, isControl) })
	if strings.ContainsFunc(r.text, isControl) {
		im.note("%q has control characters, which no pattern can have", r.text)
		if r.list == Allow {
			return
		}
		r.text = strings.Map(func(c rune) rune {
			if isControl(c) {
				return '*'
			}
			return c
		}, r.text)
	}
	if !slices.ContainsFunc(im.rules, func(o foreignRule) bool {
		return o.list == r.list && o.text == r.text && slices.Equal(o.except, r.except)
	}) {
		im.rules = append(im.rules, r)
	}
}

// known reports whether rules can be about a tool.
func (im *importer) known(tool string) bool {
	return slices.Contains(ruleTools(), tool) || slices.Contains(im.tools, tool)
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
	for _, section := range im.sections {
		fmt.Fprintf(&b, "\n%s\n", section)
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

// host adds a rule about a host that commands reach.
func (im *importer) host(list Verdict, host, source string) {
	bare := strings.TrimPrefix(strings.ToLower(host), "*.")
	if strings.Trim(bare, "abcdefghijklmnopqrstuvwxyz0123456789.-:") == "" && bare != "" {
		im.add(foreignRule{list: list, text: "net(" + host + ")", source: source})
		return
	}
	if list != Allow {
		im.add(foreignRule{list: list, text: "net(**)", source: source})
	}
	im.note("%s: cannot be said here", source)
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
