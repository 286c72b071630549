package policy

import (
	"encoding/json"
	"strings"
)

// claudeSettings is what matters of Claude Code's settings.json.
type claudeSettings struct {
	Permissions *struct {
		Allow, Ask, Deny      []string
		DefaultMode           string   `json:"defaultMode"`
		AdditionalDirectories []string `json:"additionalDirectories"`
	}
	Sandbox struct {
		Filesystem struct {
			DenyRead  []string `json:"denyRead"`
			DenyWrite []string `json:"denyWrite"`
		}
		Network struct {
			AllowedDomains []string `json:"allowedDomains"`
			DeniedDomains  []string `json:"deniedDomains"`
		}
	}
	Hooks map[string]json.RawMessage
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
	im.claudeSandbox(&s)
	if s.Hooks["PreToolUse"] != nil || s.Hooks["PermissionRequest"] != nil {
		im.note("hooks: not carried over; where one refuses calls, write deny rules for them")
	}
	return im.claudeMode(p.DefaultMode)
}

// claudeSandbox carries over what the sandbox of commands keeps closed.
func (im *importer) claudeSandbox(s *claudeSettings) {
	for _, list := range []struct {
		tool  string
		paths []string
	}{{"read", s.Sandbox.Filesystem.DenyRead}, {"edit", s.Sandbox.Filesystem.DenyWrite}} {
		for _, path := range list.paths {
			source := "sandbox.filesystem " + path
			pattern, ok := claudePath(strings.TrimSuffix(path, "/"), Deny)
			if !ok {
				im.unsaid(Deny, list.tool, source)
				continue
			}
			patterns := []string{pattern}
			if strings.HasPrefix(path, "/") && !strings.HasPrefix(path, "//") { // absolute, or the project's: its versions differ
				patterns = append(patterns, "/"+pattern)
			}
			for _, one := range patterns {
				im.add(foreignRule{list: Deny, text: list.tool + "(" + one + ")", source: source})
				if !strings.HasSuffix(one, "/**") {
					im.add(foreignRule{list: Deny, text: list.tool + "(" + one + "/**)", source: source})
				}
			}
		}
	}
	for _, host := range s.Sandbox.Network.AllowedDomains { // what asks before fetch asks before these, too
		im.note("sandbox.network %s: commands ask before they reach it, as fetch does", host)
	}
	for _, host := range s.Sandbox.Network.DeniedDomains {
		im.host(Deny, host, "sandbox.network "+host)
	}
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
	case !im.known(tool):
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
