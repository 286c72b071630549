// Package gitsettings tells which settings of a repository anybody may change, since they
// make git run nothing, and which changes of its file are no others.
package gitsettings

import (
	"regexp"
	"slices"
	"strings"
)

// MaxFile bounds a file of settings that is looked at, in bytes: 256 KiB.
const MaxFile = 256 << 10

// What values lists where it cannot list each value.
const (
	yesNo  = "true false"
	word   = "a word"   // letters, digits, dots, hyphens
	number = "a number" // of at most nine digits
	text   = "a text"   // anything on one line
)

// values are settings by their names, and the values that each may have. None of them names a
// file, a program, an address or a reference that git would change.
var values = [...]struct{ names, value string }{
	{"user.name user.email author.name author.email committer.name committer.email", text},
	{"init.defaultbranch", word},
	{"commit.gpgsign tag.gpgsign", "false"},
	{"pull.rebase", yesNo + " merges"},
	{"pull.ff merge.ff", yesNo + " only"},
	{"push.default", "simple current upstream nothing"},
	{"core.autocrlf", yesNo + " input"},
	{"core.safecrlf", yesNo + " warn"},
	{"core.eol", "lf crlf native"},
	{"core.filemode core.quotepath core.longpaths core.preloadindex push.autosetupremote fetch.prune fetch.prunetags rebase.autostash rebase.autosquash rebase.updaterefs merge.autostash rerere.enabled rerere.autoupdate maintenance.auto", yesNo},
	{"diff.renames", yesNo + " copies"},
	{"diff.algorithm", "default myers minimal patience histogram"},
	{"merge.conflictstyle", "merge diff3 zdiff3"},
	{"color.ui", yesNo + " auto always never"},
	{"gc.auto", number},
	{"log.date", word},
}

// Free reports whether a setting may have a value without git running anything for it that
// it would not run otherwise.
func Free(name, value string) bool {
	list, ok := allowed(strings.ToLower(name))
	if !ok || !plainValue(value) || value == "" {
		return false
	}
	switch list {
	case text:
		return value[0] != '-'
	case word:
		return only(value, letters+digits+".-") && value[0] != '-'
	case number:
		return only(value, digits) && len(value) < 10
	}
	return slices.Contains(strings.Fields(list), value)
}

// Known reports whether a setting has values that are free. To take it away is harmless, too.
func Known(name string) bool {
	_, ok := allowed(strings.ToLower(name))
	return ok
}

func allowed(name string) (list string, ok bool) {
	for i := range values {
		if slices.Contains(strings.Fields(values[i].names), name) {
			return values[i].value, true
		}
	}
	key, ok := strings.CutPrefix(name, "advice.")
	return yesNo, ok && key != "" && only(key, letters)
}

const (
	letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	digits  = "0123456789"
)

// only reports whether a text has no other characters than these.
func only(s, chars string) bool { return strings.Trim(s, chars) == "" }

// plainValue reports whether a value stands in the file as it is.
func plainValue(value string) bool {
	return value == strings.TrimSpace(value) && !strings.ContainsFunc(value, func(r rune) bool {
		return r < ' ' || r == 0x7f || strings.ContainsRune(`"\;#`, r)
	})
}

// A Refusal says why a change is none that anybody may make.
type Refusal struct {
	Why  string
	Host string // the host that a remote may not have; "" where that is not the reason
}

// A setting is a line of the file.
type setting struct {
	section, sub string // of [section "sub"]
	key, value   string
}

// A file is what is read of one.
type file struct {
	free   []setting           // what may be another
	rest   []string            // each other line, with the section that it stands in
	fixed  map[setting]bool    // the settings of those lines, without their values
	remote map[string][]string // the addresses of each
}

// A grammar is what the lines and values look like. It is made when it is needed, for that
// takes longer than most starts of a program may.
type grammar struct {
	header, line, ref, fetch, remote, scp, url *regexp.Regexp
	tree                                       string // see Change
}

func newGrammar() *grammar {
	return &grammar{
		header: regexp.MustCompile(`^\[([A-Za-z0-9-]+)(?:\.([A-Za-z0-9.-]+))?(?: "([^"\\\]\[]+)")?\]$`),
		line:   regexp.MustCompile(`^([A-Za-z][A-Za-z0-9-]*)[ \t]*(?:=[ \t]*(.*))?`),
		ref:    regexp.MustCompile(`^refs/heads/[\w./+@-]+$`),
		fetch:  regexp.MustCompile(`^\+?refs/heads/(?:\*|[\w./+@-]+):refs/remotes/(\w[\w.-]*)/(?:\*|[\w./+@-]+)$`),
		remote: regexp.MustCompile(`^\w[\w.-]*$`),
		scp:    regexp.MustCompile(`^()(?:(\w[\w.-]*)@)?([A-Za-z0-9][A-Za-z0-9.-]*):([\w~/][^:]*)$`),
		url:    regexp.MustCompile(`^(https|ssh)://(?:(\w[\w.:+~-]*)@)?([A-Za-z0-9][A-Za-z0-9.-]*)(?:/(.*))?$`),
	}
}

// parse reads a file; ok says that nothing in it has a meaning that this does not see.
func (g *grammar) parse(text string) (f file, ok bool) {
	f.remote, f.fixed = map[string][]string{}, map[setting]bool{}
	if len(text) > MaxFile || strings.ContainsAny(text, "\r\x00\ufeff\v\f") || strings.Contains(text, "\\\n") || strings.HasSuffix(text, `\`) {
		return f, false
	}
	section, sub := "", ""
	for l := range strings.SplitSeq(text, "\n") {
		l = strings.Trim(l, " \t")
		if l == "" {
			continue
		}
		if l[0] == '[' {
			m := g.header.FindStringSubmatch(l)
			if m == nil {
				return f, false
			}
			section, sub = strings.ToLower(m[1]), m[3]
			if m[2] != "" { // [remote.x], as git wrote it once
				if sub = strings.ToLower(m[2]); m[3] != "" {
					sub += "." + m[3]
				}
			}
			continue
		}
		s := setting{section: section, sub: sub}
		if m := g.line.FindStringSubmatch(l); m != nil {
			s.key, s.value = strings.ToLower(m[1]), m[2]
		}
		if section == "remote" && s.key == "url" {
			f.remote[sub] = append(f.remote[sub], s.value)
		}
		if s.changes() || g.tree != "" && s == (setting{"core", "", "worktree", g.tree}) {
			f.free = append(f.free, s)
			continue
		}
		f.rest = append(f.rest, section+"\x00"+sub+"\x00"+l)
		f.fixed[setting{section, sub, s.key, ""}] = true
	}
	return f, true
}

// changes reports whether a setting is of a kind that may become another.
func (s *setting) changes() bool {
	switch {
	case s.key == "" || s.value == "" || !plainValue(s.value):
		return false
	case s.sub == "":
		return Free(s.section+"."+s.key, s.value)
	}
	return s.section == "submodule" && slices.Contains([]string{"url", "active"}, s.key) || s.section == "branch" && slices.Contains([]string{"remote", "merge", "rebase"}, s.key) || s.section == "remote" && slices.Contains([]string{"url", "fetch", "tagopt"}, s.key)
}

// Change reports why a file of settings may not become another; nil where it may. Only what
// is free may differ: no setting that git could run something for, no other remotes than at
// hosts that remotes have already, or for which reach is true, none that becomes another
// repository, and no remote less, for its name would become a path. Submodules are as remotes, but
// that one may go: which commit of them is taken stands in the index. Tree is the work tree that the settings of a submodule
// may name or not, as git writes it; "" for none.
func Change(was, now, tree string, reach func(host string) bool) *Refusal {
	g := newGrammar()
	g.tree = tree
	old, ok1 := g.parse(was)
	next, ok2 := g.parse(now)
	switch {
	case !ok1 || !ok2:
		return &Refusal{Why: "the settings are not written plainly"}
	case !slices.Equal(old.rest, next.rest):
		return &Refusal{Why: "it changes a setting that later commands of git heed"}
	}
	for name := range old.remote {
		if len(next.remote[name]) == 0 {
			return &Refusal{Why: "it takes a remote away, whose name git would take for a path"}
		}
	}
	hosts := g.hosts(&old)
	for i := range next.free {
		s := &next.free[i]
		if slices.Contains(old.free, *s) {
			continue
		}
		if r := g.refuse(s, &next, hosts, reach); r != nil {
			return r
		}
		if had := old.addresses(s); s.key == "url" && len(had) > 0 && !g.sameRepository(had, s.value) {
			return &Refusal{Why: "the " + s.section + " " + s.sub + " would be another repository"}
		}
	}
	return nil
}

// sameRepository reports whether a new address of a remote leads to a repository that it had:
// who pulls from it or pushes to it means that one.
func (g *grammar) sameRepository(had []string, address string) bool {
	is, ok := g.place(address)
	return ok && slices.ContainsFunc(had, func(was string) bool {
		old, ok := g.place(was)
		return ok && old.host == is.host && old.repository() == is.repository() && (is.user == "" || is.user == old.user || is.user == "git")
	})
}

// repository is the path without what servers leave away, too.
func (p *place) repository() string { return strings.TrimSuffix(strings.Trim(p.path, "/"), ".git") }

// addresses are those that the remote or submodule of a setting has.
func (f *file) addresses(s *setting) (list []string) {
	if s.section == "remote" {
		return f.remote[s.sub]
	}
	for i := range f.free {
		if f.free[i].section == s.section && f.free[i].sub == s.sub && f.free[i].key == s.key {
			list = append(list, f.free[i].value)
		}
	}
	return list
}

// hosts are those of all remotes.
func (g *grammar) hosts(f *file) (list []string) {
	for _, urls := range f.remote {
		for _, u := range urls {
			if host := g.hostOf(u); host != "" {
				list = append(list, host)
			}
		}
	}
	return list
}

func (g *grammar) refuse(s *setting, in *file, hosts []string, reach func(string) bool) *Refusal {
	ok := false
	if in.fixed[setting{s.section, s.sub, s.key, ""}] {
		return &Refusal{Why: s.section + "." + s.key + " is set otherwise"}
	}
	switch s.section + " " + s.key {
	case "branch remote":
		ok = s.value == "." || len(in.remote[s.value]) > 0
	case "branch merge":
		ok = g.ref.MatchString(s.value) && !strings.Contains(s.value, "..")
	case "branch rebase":
		ok = s.value == "true" || s.value == "false" || s.value == "merges"
	case "remote tagopt":
		ok = s.value == "--no-tags" || s.value == "--tags"
	case "remote fetch":
		m := g.fetch.FindStringSubmatch(s.value)
		ok = m != nil && m[1] == s.sub && !strings.Contains(s.value, "..")
	case "core worktree":
		ok = s.value == g.tree
	case "submodule active":
		ok = s.value == "true" || s.value == "false"
	case "remote url", "submodule url":
		host := g.hostOf(s.value)
		switch {
		case s.section == "remote" && !g.remote.MatchString(s.sub) || host == "":
			return &Refusal{Why: "the address of a " + s.section + " is none by https or ssh at the usual port"}
		case len(in.addresses(s)) > 1:
			return &Refusal{Why: "a " + s.section + " gets a second address"}
		case !slices.Contains(hosts, host) && !reach(host):
			return &Refusal{Why: "no remote of the repository is at " + host, Host: host}
		}
		ok = true
	default:
		ok = s.sub == "" && Free(s.section+"."+s.key, s.value)
	}
	if !ok {
		return &Refusal{Why: "the value of " + s.section + "." + s.key + " is none that is known to be harmless"}
	}
	return nil
}

// A place is where an address leads.
type place struct {
	user       string // by ssh, whose home a path may begin at; "" for none, and for https
	host, path string
}

// place reads an address by https or ssh at the usual port; ok is false for every other one.
// git looks for the host in an address by ssh once it has decoded all of it, and for no more
// than a slash behind it, so nothing before the path may be read in two ways.
func (g *grammar) place(address string) (p place, ok bool) {
	if strings.Contains(address, "::") || !plainValue(address) {
		return p, false
	}
	m := g.url.FindStringSubmatch(address)
	if m == nil && !strings.Contains(address, "://") {
		m = g.scp.FindStringSubmatch(address)
	}
	if m == nil {
		return p, false
	}
	if p = (place{m[2], strings.ToLower(m[3]), m[4]}); m[1] == "https" {
		p.user = ""
	}
	return p, true
}

// hostOf is the host of a remote's address; "" where that is no place.
func (g *grammar) hostOf(address string) string {
	p, _ := g.place(address)
	return p.host
}
