package policy

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// An entry is a key of a JSON object in the order it stands in.
type entry struct {
	key   string
	value json.RawMessage
}

// entries reads an object in order.
func entries(raw json.RawMessage) (list []entry, err error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, fmt.Errorf("want an object, have %.20s", raw)
	}
	for d.More() {
		k, err := d.Token()
		if err != nil {
			return nil, err
		}
		var v json.RawMessage
		if err := d.Decode(&v); err != nil {
			return nil, err
		}
		list = append(list, entry{k.(string), v})
	}
	return list, nil
}

// A wish is one line of OpenCode's permissions: the last that matches wins.
type wish struct {
	tool, pattern string
	verdict       Verdict
}

// openTools are the keys that stand for our tools.
var openTools = [...][2]string{
	{"bash", "bash"},
	{"edit", "edit"},
	{"external_directory", "outside"},
	{"glob", "glob"},
	{"grep", "grep"},
	{"list", "ls"},
	{"read", "read"},
	{"webfetch", "fetch"},
	{"websearch", "websearch"},
}

// opencode reads OpenCode's permission map: lines in order, of which the last
// that matches decides, and everything is allowed where none does.
func (im *importer) opencode(data []byte) error {
	var s struct {
		Permission  json.RawMessage
		Tools       map[string]bool // what permission was before
		Agent, Mode map[string]struct{ Permission, Tools json.RawMessage }
	}
	if err := json.Unmarshal(jsonc(data), &s); err != nil {
		return err
	}
	if len(s.Permission) == 0 && s.Tools == nil {
		return ErrForeign
	}
	var wishes []wish
	if len(s.Permission) > 0 {
		var err error
		if wishes, err = im.wishes(s.Permission); err != nil {
			return err
		}
	}
	im.switchedOff(s.Tools)
	for _, agents := range []map[string]struct{ Permission, Tools json.RawMessage }{s.Agent, s.Mode} {
		for _, name := range slices.Sorted(maps.Keys(agents)) {
			if a := agents[name]; a.Permission != nil || a.Tools != nil {
				im.note("agent %s has permissions of its own: not carried over; they may be narrower than these", name)
			}
		}
	}
	for _, t := range openTools {
		var own []wish
		for _, w := range wishes {
			if w.tool == t[1] {
				own = append(own, w)
			}
		}
		for i := range own {
			im.wish(own, i)
		}
	}
	return nil
}

// switchedOff denies what tools has as false, whatever permission says of it.
func (im *importer) switchedOff(tools map[string]bool) {
	for _, key := range slices.Sorted(maps.Keys(tools)) {
		if tools[key] {
			continue
		}
		source, found := "tools "+key, false
		for _, t := range append(openTools[:], [2]string{"write", "edit"}, [2]string{"patch", "edit"}, [2]string{"apply_patch", "edit"}) {
			if im.known(t[1]) && (key == t[0] || strings.Contains(key, "*") && matchParts(strings.Split(key, "*"), t[0])) {
				im.add(foreignRule{list: Deny, text: t[1], source: source})
				found = true
			}
		}
		if !found {
			im.note("%s: there is no such tool here", source)
		}
	}
}

// wishes flattens the map.
func (im *importer) wishes(raw json.RawMessage) (all []wish, err error) {
	var one string
	if json.Unmarshal(raw, &one) == nil {
		raw = json.RawMessage(`{"*":` + string(raw) + `}`)
	}
	keys, err := entries(raw)
	if err != nil {
		return nil, err
	}
	for _, k := range keys {
		lines := []entry{{"*", k.value}}
		if bytes.HasPrefix(bytes.TrimSpace(k.value), []byte("{")) {
			if lines, err = entries(k.value); err != nil {
				return nil, err
			}
		}
		for _, l := range lines {
			var word string
			v, ok := Deny, false
			if json.Unmarshal(l.value, &word) == nil {
				v, ok = ParseVerdict(word)
			}
			if !ok {
				return nil, fmt.Errorf("%s: want allow, ask or deny, have %.40s", k.key, l.value)
			}
			found := false
			for _, t := range openTools {
				if k.key == t[0] || strings.Contains(k.key, "*") && matchParts(strings.Split(k.key, "*"), t[0]) {
					all, found = append(all, wish{t[1], l.key, v}), true
				}
			}
			if !found && v != Allow {
				im.note("%s %s %q: there is no such tool here", v, k.key, l.key)
			}
		}
	}
	return all, nil
}

// wish adds one line: it does not hold where a later, weaker one does.
func (im *importer) wish(own []wish, i int) {
	w := own[i]
	source := w.tool + " " + w.pattern
	if w.tool == "outside" {
		im.external(w)
		return
	}
	var except []string
	if w.verdict != Allow {
		for _, later := range own[i+1:] {
			if later.verdict > w.verdict {
				if text, ok := openRule(later); ok {
					except = append(except, text)
				}
			}
		}
	}
	if w.tool == "bash" {
		im.command(w.verdict, openCommand(w.pattern), source, except)
		return
	}
	if !im.known(w.tool) {
		im.note("%s %s: there is no such tool here", w.verdict, source)
		return
	}
	text, ok := openRule(w)
	if !ok {
		im.unsaid(w.verdict, w.tool, source)
		return
	}
	im.add(foreignRule{list: w.verdict, text: text, except: except, source: source})
}

// openCommand: the text of a pattern stands for the whole command.
func openCommand(s string) string { return strings.ReplaceAll(s, ":*", ": *") }

// openRule says a line as a rule of ours; ok is false where that cannot be.
func openRule(w wish) (text string, ok bool) {
	switch {
	case w.tool == "bash":
		pattern, ok := commandPattern(openCommand(w.pattern), w.verdict)
		return "bash(" + pattern + ")", ok
	case w.pattern == "*" || w.pattern == "**":
		return w.tool, true
	case w.tool == "read" || w.tool == "edit":
		pattern, ok := openPath(w.pattern, w.verdict)
		return w.tool + "(" + pattern + ")", ok
	}
	return "", false
}

// openPath: a star stands for anything, slashes included.
func openPath(s string, v Verdict) (string, bool) {
	s = strings.Replace(s, "$HOME/", "~/", 1)
	if s == "" || strings.ContainsAny(s, "[]{}!\\?\n") || strings.Contains(s, "..") {
		return "", false
	}
	for strings.Contains(s, "***") {
		s = strings.ReplaceAll(s, "***", "**")
	}
	var out []string
	parts := strings.Split(s, "/")
	for i, part := range parts {
		part = strings.ReplaceAll(part, "**", "*")
		switch {
		case part == "*":
			out = append(out, "**")
		case strings.Contains(part, "*") && !strings.HasPrefix(part, "*") && v == Allow && i < len(parts)-1:
			out = append(out, part) // a star that may go on is taken for one that does not
		case strings.HasPrefix(part, "*"):
			out = append(out, "**", part)
		default:
			out = append(out, part)
		}
	}
	if last := parts[len(parts)-1]; v != Allow && strings.Contains(strings.TrimPrefix(last, "*"), "*") {
		out = append(out, "**") // and what lies below
	}
	return strings.Join(slices.CompactFunc(out, func(a, b string) bool { return a == "**" && b == "**" }), "/"), true
}

// external is about what lies outside the project.
func (im *importer) external(w wish) {
	source := "external_directory " + w.pattern
	if w.pattern == "*" || w.pattern == "**" {
		im.outside = []string{"read: " + w.verdict.String()}
		if w.verdict == Ask {
			return
		}
		if w.verdict == Allow {
			im.note("%s allow: reading only; write edit(…) rules for what may change there", source)
		}
		return
	}
	pattern, ok := openPath(w.pattern, w.verdict)
	if !ok {
		im.note("%s %s: cannot be said here; outside: read: ask holds", source, w.verdict)
		im.outside = []string{"read: ask"}
		return
	}
	im.add(foreignRule{list: w.verdict, text: "read(" + pattern + ")", source: source})
	if w.verdict != Allow {
		im.add(foreignRule{list: w.verdict, text: "edit(" + pattern + ")", source: source})
	}
}
