package committed

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// NewlyIgnored lists what the repository that holds top ignores by rules of files of which changed tells, as far as HEAD does not have
// the rule there: a directory stands for all that is in it. It is false where that cannot be told.
func (f *Files) NewlyIgnored(top string, changed func(file string) bool) (list []string, ok bool) {
	r, program := f.asked(top)
	if r == nil {
		return nil, false
	}
	listing := []string{"-c", "core.fsmonitor=false", "-c", "core.untrackedCache=false", "--literal-pathspecs", "ls-files", "-z", "--others", "--ignored", "--exclude-standard"}
	out, err := r.run(program, append(slices.Clone(listing), "--directory"))
	rules, ok := r.rules(program, fields(out))
	var inside []string // directories that are ignored by what stands in them
	for _, rel := range fields(out) {
		if _, known := rules[strings.TrimSuffix(rel, "/")]; !known && strings.HasSuffix(rel, "/") {
			inside = append(inside, rel)
		}
	}
	if err != nil || !ok || len(inside) > maxInside {
		return nil, false
	}
	if len(inside) > 0 {
		out, err := r.run(program, append(append(listing, "--"), inside...))
		more, ok := r.rules(program, fields(out))
		if err != nil || !ok {
			return nil, false
		}
		maps.Copy(rules, more)
	}
	had := map[string][]string{}
	for rel, rule := range rules {
		file := filepath.FromSlash(rule.file)
		if !filepath.IsAbs(file) {
			file = filepath.Join(r.top, file)
		}
		if !changed(file) {
			continue
		}
		lines, known := had[rule.file]
		if !known {
			text, _ := r.run(program, []string{"cat-file", "blob", "HEAD:" + rule.file})
			lines = strings.Split(text, "\n")
			had[rule.file] = lines
		}
		if !slices.ContainsFunc(lines, func(line string) bool { return strings.TrimRight(line, " \t\r") == rule.text }) {
			list = append(list, filepath.Join(r.top, filepath.FromSlash(rel)))
		}
	}
	slices.Sort(list)
	return list, true
}

// maxInside bounds the directories that are looked at for what stands in them.
const maxInside = 1000

// An ignoreRule is a line of a file of rules.
type ignoreRule struct{ file, text string }

// rules tells by which rules some names are ignored.
func (r *repository) rules(program string, rels []string) (rules map[string]ignoreRule, ok bool) {
	rules = map[string]ignoreRule{}
	if len(rels) == 0 {
		return rules, true
	}
	if len(rels) > maxLost {
		return nil, false
	}
	// That none of them is ignored by itself it says by its status.
	out, err := r.runOn(program, []string{"-c", "core.fsmonitor=false", "check-ignore", "--verbose", "-z", "--stdin"}, strings.Join(rels, "\x00")+"\x00", false)
	if err != nil && out != "" {
		return nil, false
	}
	for list := strings.Split(out, "\x00"); len(list) > 4; list = list[4:] {
		rules[strings.TrimSuffix(list[3], "/")] = ignoreRule{list[0], list[2]}
	}
	return rules, true
}
