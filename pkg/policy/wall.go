package policy

import (
	"path"
	"slices"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/safefile"
)

// MayRead reports whether a command may read a file or list a directory
// without a question. The kernel's wall asks it, as the analysis of a command's
// text asks Decide: there is one answer.
func (p *Policy) MayRead(path string, t FileType) bool {
	return p.Decide(&Access{Kind: Read, Tool: commandTool, Path: path, File: t}).Verdict == Allow
}

// MayWrite is MayRead for changing what is at a path, or making it.
func (p *Policy) MayWrite(path string, t FileType) bool {
	op := Change
	if t == Missing {
		op = Create
	}
	return p.Decide(&Access{Kind: Write, Tool: commandTool, Path: path, Op: op, File: t}).Verdict == Allow
}

// Protects reports whether a command may not make a file for what it is, by a protection
// that is built in or a rule, and not for lying outside the root alone.
func (p *Policy) Protects(file string) bool {
	d, named := p.protects(file)
	return named || d.Verdict != Allow && !d.Default
}

// Conceals reports whether a command may not read a file for what it is, by a protection that is built in
// or a rule, and not for lying outside the root alone.
func (p *Policy) Conceals(file string, t FileType) bool {
	a := Access{Kind: Read, Tool: commandTool, Path: file, File: t}
	d := p.Decide(&a)
	if d.Verdict == Allow {
		return false
	}
	f, soft, part := facts{}, setting{verdict: Allow}, ""
	p.fileFacts(&a, &f)
	_, done := p.protection(&a, &f, &soft, &part)
	return done || soft.verdict < Allow || !d.Default
}

// Home is the directory that ~ stands for; "" for none.
func (p *Policy) Home() string { return p.home }

// Named is [Policy.Protects] without what rules alone say.
func (p *Policy) Named(file string) bool {
	_, named := p.protects(file)
	return named
}

// protects decides about a file that a command makes, and reports whether it may not for a protection
// that is built in.
func (p *Policy) protects(file string) (d Decision, named bool) {
	a := Access{Kind: Write, Tool: commandTool, Path: file, Op: Create, File: Missing}
	if d = p.Decide(&a); d.Verdict == Allow {
		return d, false
	}
	f, soft, part := facts{}, setting{verdict: Allow}, ""
	p.fileFacts(&a, &f)
	_, done := p.protection(&a, &f, &soft, &part)
	return d, done || soft.verdict < Allow
}

// GitChanges reports whether git itself changes what lies at a path relative to
// a repository's directory, such as .git, when it commits, switches and merges.
func GitChanges(rel string) bool { return gitChanges(foldPath(slashed(rel))) }

// Passed reports whether the walk of the root passes a directory over: where the
// root is that of the file system, what is the system's own, and temporary directories.
func (p *Policy) Passed(dir string) bool {
	if p.root != "/" {
		return false
	}
	dir = slashed(dir)
	in := func(list []string) bool { return slices.Contains(list, dir) }
	return in(systemDirs[:]) || in(settingDirs[:]) || in(p.temp) || in(p.trusted) || in([]string{"/run", "/var"})
}

// Notable reports whether what is at a path in the root may be another case
// than an ordinary file is: MayRead and MayWrite have to be asked about it. Its
// name is looked up, and the rules that deny or ask. within says that a
// directory above begins a guarded name of several parts, or has one that does not
// decide for all that it holds; all that lies below it is notable then, and opens says
// so of this one. It is meant to be asked of every name there is.
func (p *Policy) Notable(file string, within bool) (notable, opens bool) {
	name := slashed(file)
	name = foldPath(name[strings.LastIndexByte(name, '/')+1:])
	for _, ix := range []*guardIndex{p.reads(), p.writes()} {
		hit, more := ix.mayBegin(name)
		notable, opens = notable || hit, opens || more
	}
	if notable && !opens { // what rules leave open of it is decided one by one
		opens = p.Mixed(file, Read) || p.Mixed(file, Write)
	}
	if notable = notable || within; notable {
		return true, opens
	}
	folded := ""
	for _, list := range [][]*rule{p.rules.read, p.rules.write} {
		for _, r := range list {
			if r.list == Allow || r.path == nil {
				continue
			}
			at := slashed(file)
			if r.path.fold {
				if folded == "" {
					folded = foldPath(at)
				}
				at = folded
			}
			if r.path.match(at) {
				return true, opens
			}
		}
	}
	return false, opens
}

// Begins reports whether the name of a path is the first of several that a protection
// names, such as .github of .github/workflows: a link there brings what lies below.
func (p *Policy) Begins(file string) bool {
	name := slashed(file)
	_, more := p.writes().mayBegin(foldPath(name[strings.LastIndexByte(name, '/')+1:]))
	return more
}

// Leads reports whether what lies below a path may be closed, for one of some kinds of access, by the names above
// it, and not by its own alone, which it has wherever it lies: what a link at the path leads to has these names, too.
func (p *Policy) Leads(file string, kinds ...Kind) bool {
	at := slashed(file)
	folded := foldPath(at)
	rel := folded
	if safefile.Below(p.root, at) {
		rel = foldPath(at[len(p.root):])
	}
	for _, k := range kinds {
		ix := p.reads()
		if k == Write {
			ix = p.writes()
		}
		if _, ok := ix.find(folded, rel, true); ok {
			return true
		}
		for _, r := range p.rules.file(k) {
			switch {
			case r.list == Allow || r.path == nil:
			case r.path.fold && r.path.leads(folded, foldPath(p.root)), !r.path.fold && r.path.leads(at, p.root):
				return true
			}
		}
	}
	return false
}

// mayBegin reports whether a guard's first name is name, and whether one of
// several parts is.
func (ix *guardIndex) mayBegin(name string) (hit, more bool) {
	entries := ix.named(name)
	for i := range entries {
		if len(entries[i].names) > 1 {
			more = true
		} else {
			hit = true
		}
	}
	if !hit {
		_, hit = ix.findEnd(name)
	}
	return hit, more
}

// Placed reports whether a path is closed for the place where it is, not for its name, by a rule or since a
// later call looks there for what decides: when a directory above it is moved, nothing closes it any more.
func (p *Policy) Placed(file string) bool {
	if p.Keeps(file) {
		return true
	}
	file = slashed(file)
	folded := foldPath(file)
	for _, list := range [][]*rule{p.rules.read, p.rules.write} {
		for _, r := range list {
			if r.list != Allow && r.path != nil && r.path.kind != namePath && (r.path.fold && r.path.match(folded) || !r.path.fold && r.path.match(file)) {
				return true
			}
		}
	}
	return false
}

// Mixed reports whether something below a directory, all of which a deny or
// ask rule or a protection seems to close, may yet be read or written: by a
// rule that allows it, or an exception.
func (p *Policy) Mixed(dir string, k Kind) bool {
	dir = slashed(dir)
	folded := foldPath(dir)
	reaches := func(m *matcher) bool {
		switch {
		case m.path == nil:
			return m.bare
		case m.path.fold:
			return m.path.reaches(folded) != no
		}
		return m.path.reaches(dir) != no
	}
	for _, r := range p.rules.file(k) {
		if r.list == Allow && !r.bare && reaches(&r.matcher) {
			return true
		}
		if r.list != Allow && slices.ContainsFunc(r.except, func(m matcher) bool { return reaches(&m) }) {
			return true
		}
	}
	return false
}

// Anchored lists the places that are closed by an absolute path: of secrets,
// or of what is protected from being written, built in, with [Sources.Kept]; and outside
// the root those of rules. Whether there is something is not looked at.
func (p *Policy) Anchored(k Kind) []string {
	var list []string
	add := func(at string) {
		if path.IsAbs(at) && at != "/" && !slices.Contains(list, at) {
			list = append(list, at)
		}
	}
	table, ours := readGuards[:], readSecret
	if k == Write {
		table, ours = writeGuards[:], writeProtected
	}
	for i := range table {
		g := &table[i]
		switch rest, home := strings.CutPrefix(g.pattern, "~/"); {
		case g.cell != ours, strings.Contains(g.pattern, "*"):
		case g.pattern[0] == '/':
			add(g.pattern)
		case p.home != "" && (home || k == Read):
			add(path.Join(p.home, rest))
		}
	}
	if k == Write {
		for _, path := range p.kept {
			add(slashed(path))
		}
	}
	for _, r := range p.rules.file(k) {
		if r.list != Allow && r.path != nil && !r.path.fold && r.path.kind != globPath && r.path.kind != namePath && !safefile.Below(r.path.base, p.root) && !safefile.Below(p.root, r.path.base) {
			add(r.path.base)
		}
	}
	return list
}
