package policy

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/safefile"
)

// decideFile answers for reading or writing a path.
func (p *Policy) decideFile(a *Access) Decision {
	if a.Path == "" {
		return p.decideUnknownPath(a)
	}
	if a.Unseen {
		return Decision{Verdict: Ask, Rule: guardName(readSecretOutside) + "not looked through", Why: a.Opaque}
	}
	if why := unusable(a.Path); why != "" {
		return Decision{Verdict: Deny, Rule: "path", Why: why}
	}
	if a.Named != "" {
		if why := unusable(a.Named); why != "" {
			return Decision{Verdict: Deny, Rule: "path", Why: why}
		}
	}
	if a.Tool != commandTool && strings.IndexByte(a.Source, 0) >= 0 {
		return Decision{Verdict: Deny, Rule: "path", Why: "the path holds a NUL byte"}
	}
	var f facts
	p.fileFacts(a, &f)
	soft, part := setting{verdict: Allow}, ""
	if d, ok := p.protection(a, &f, &soft, &part); ok {
		return d
	}
	got := p.scan(p.rules.file(a.Kind), a, &f, found{})
	if soft.verdict == Allow {
		return p.settle(got, p.fileSetting(a, &f), a.Opaque)
	}
	// A protection that asks: only a rule that names the file goes beyond it.
	if got.allow != nil && !got.allow.names(&f, part) {
		got.allow = p.namingRule(a, &f, part)
	}
	if def := p.fileSetting(a, &f); def.verdict < soft.verdict {
		return p.settle(got, def, a.Opaque)
	}
	return p.settle(got, &soft, "")
}

// namingRule finds an allow rule that means the file itself.
func (p *Policy) namingRule(a *Access, f *facts, part string) *rule {
	for _, r := range p.rules.file(a.Kind) {
		if r.list == Allow && r.names(f, part) && r.allows(a, f) {
			return r
		}
	}
	return nil
}

func (ix *ruleIndex) file(k Kind) []*rule {
	if k == Read {
		return ix.read
	}
	return ix.write
}

// decideUnknownPath answers where not even the path is known.
func (p *Policy) decideUnknownPath(a *Access) Decision {
	f := facts{}
	got := p.scan(p.rules.file(a.Kind), a, &f, found{})
	got.doubt = nil // that some rule could match goes without saying here
	return p.settle(got, p.opaqueSetting(a), orElse(a.Opaque, "the path is not known"))
}

// opaqueSetting: inside the sandbox a command may try; a tool of ours, which
// runs outside it, may not.
func (p *Policy) opaqueSetting(a *Access) *setting {
	c := readOpaque
	if a.Kind == Write {
		c = writeOpaque
	}
	if a.Tool != commandTool {
		return p.atLeastAsk(&p.settings[c], "opaque")
	}
	return &p.settings[c]
}

func (p *Policy) fileFacts(a *Access, f *facts) {
	f.path, f.hides = path.Clean(slashed(a.Path)), p.level >= 3
	f.folded = foldPath(f.path)
	f.rel, f.frel = f.path, f.folded
	if f.inside = safefile.Below(p.root, f.path); f.inside {
		f.rel = strings.TrimPrefix(f.path[len(p.root):], "/")
		f.frel = foldPath(f.rel)
	}
	f.temp = !f.inside && (p.inTemp(f.path, a.Fresh) || p.someTemp(a, f))
	if a.Named != "" {
		if via := path.Clean(slashed(a.Named)); via != f.path {
			f.via, f.fvia = via, foldPath(via)
			f.viaOut = !safefile.Below(p.root, via)
		}
	}
	f.harmless = a.Tool == commandTool && (harmlessDevice(f.path, a.Kind) || f.via != "" && harmlessDevice(f.via, a.Kind))
}

// inTemp reports whether a path lies in a temporary directory. The part of it
// that also holds the root or the home does not count: a directory beside the
// root is beside the root, wherever it is, unless it is fresh.
func (w *world) inTemp(p string, fresh bool) bool {
	for _, dir := range w.temp {
		if !safefile.Below(dir, p) || len(p) == len(dir) {
			continue
		}
		first := firstBelow(dir, p)
		if first != firstBelow(dir, w.root) && first != firstBelow(dir, w.home) && (fresh || trimSlash(path.Dir(w.root)) != dir) {
			return true
		}
	}
	return false
}

// someTemp reports whether something is made in a temporary directory under a name
// that only the command knows, where the sandbox holds it there.
func (p *Policy) someTemp(a *Access, f *facts) bool {
	return a.Kind == Write && a.Opaque != "" && (a.Op == Create || a.Op == Change) && a.Tool == commandTool && p.Holds() &&
		slices.Contains(p.temp, f.path) && !safefile.Below(f.path, p.root) && !safefile.Below(f.path, p.home)
}

// firstBelow returns the name right below dir on the way to p; "" when p is not below.
func firstBelow(dir, p string) string {
	if !safefile.Below(dir, p) || len(p) == len(dir) {
		return ""
	}
	name, _, _ := strings.Cut(strings.TrimPrefix(p[len(dir):], "/"), "/")
	return name
}

// protection applies what is built in. It returns a decision that nothing
// lifts; or a soft setting, that a rule may, and the name that it is about.
func (p *Policy) protection(a *Access, f *facts, soft *setting, part *string) (d Decision, done bool) {
	if f.harmless {
		return d, false
	}
	builtIn := func(rule, why string) (Decision, bool) {
		return Decision{Verdict: Deny, Rule: rule, Why: why}, true
	}
	if a.Tool != commandTool && special(a, f) {
		return builtIn("devices", "a device, pipe or socket blocks or never ends")
	}
	if a.Kind == Read && !p.readable(f.folded) && (safefile.Below(p.state, f.folded) || safefile.Below(p.state, f.fvia)) {
		return builtIn("protected: session state", "what a session keeps is for its tools, but for spilled output")
	}
	if a.Kind == Write {
		if dir := p.hardDir(a, f); dir != "" {
			return builtIn("protected: "+dir, "policies and session state are never written by a call")
		}
		if path := p.keptPath(a, f); path != "" {
			return builtIn("protected: "+path, "a later call takes its rules or settings from there, so no call writes it; change it outside of calls")
		}
		switch why := p.rootItself(a, f); {
		case why == "", a.Opaque != "" && a.Tool == commandTool && a.Scripted && p.Holds():
		case a.Opaque != "" && a.Tool == commandTool:
			*soft = p.settings[runDangerous]
			soft.why = "what is deleted is not known before it runs"
		default:
			return builtIn("protected: the root itself", why)
		}
	}
	if a.Tool != commandTool && f.inside {
		if why, v := suspiciousName(f.rel, a.Kind == Write); v == Deny {
			return builtIn("suspicious path", why)
		} else if v == Ask {
			*soft = setting{verdict: Ask, rule: "suspicious path", why: why}
		}
	}
	if d, done = p.guarded(a, f, soft, part); done {
		return d, true
	}
	if a.Links > 1 && a.File == Regular && a.Op != Delete && f.inside && soft.verdict == Allow && !linkFarm(f.frel, a.Kind) && p.settings[hardLink].verdict < Allow {
		*soft, *part = p.settings[hardLink], f.frel[strings.LastIndexByte(f.frel, '/')+1:]
		soft.why = "the file has another name, perhaps outside the root"
	}
	return d, false
}

// linkFarm names the places that are full of hard links by design: git's
// object store, and packages that a package manager linked for reading.
func linkFarm(rel string, k Kind) bool {
	return safefile.BelowGit(rel) || k == Read && dependency(rel)
}

// special reports what is no file to read or write: devices and the like, and
// everything in /dev, known or not.
func special(a *Access, f *facts) bool {
	switch a.File {
	case Device, FIFO, Socket:
		return true
	}
	return safefile.Below("/dev", f.path) && !safefile.Below("/dev/shm", f.path) || safefile.Below("/dev", f.via) && !safefile.Below("/dev/shm", f.via)
}

// harmlessDevice reports the devices that commands use as they use echo.
func harmlessDevice(p string, k Kind) bool {
	rest, ok := strings.CutPrefix(p, "/dev/")
	if !ok {
		rest, ok = strings.CutPrefix(p, "/proc/self/fd/")
		return ok && isNumber(rest)
	}
	switch rest {
	case "null", "stdin", "stdout", "stderr", "full", "zero":
		return true
	case "random", "urandom":
		return k == Read
	}
	fd, ok := strings.CutPrefix(rest, "fd/")
	return ok && isNumber(fd)
}

func isNumber(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// hardDir returns the directory of ours that a write touches. Of what is changed file by file, each of these is judged by itself.
func (p *Policy) hardDir(a *Access, f *facts) string {
	if i := slices.IndexFunc(p.hard, func(dir string) bool { return touches(a, f, dir) }); i >= 0 {
		return p.hard[i]
	}
	return ""
}

// keptPath is hardDir for what a later call takes rules or settings from.
func (p *Policy) keptPath(a *Access, f *facts) string {
	if i := slices.IndexFunc(p.inKept, func(path string) bool { return touches(a, f, path) }); i >= 0 {
		return p.kept[i]
	}
	return ""
}

func touches(a *Access, f *facts, dir string) bool {
	return safefile.Below(dir, f.folded) || safefile.Below(dir, f.fvia) || a.Tree && (!a.Each || a.Op == Delete) && safefile.Below(f.folded, dir)
}

// rootItself says why the root, or what holds it, is not replaced.
func (p *Policy) rootItself(a *Access, f *facts) string {
	switch {
	case !safefile.Below(f.path, p.root):
		return ""
	case a.Op == Delete && !a.Below:
		return "the root would be gone"
	case a.Tool != commandTool:
		return "the root is a directory"
	}
	return ""
}

// guarded looks the path up in the tables of guards, resolved and as named.
func (p *Policy) guarded(a *Access, f *facts, soft *setting, part *string) (d Decision, done bool) {
	ways := [...][2]string{{f.folded, f.frel}, {f.fvia, f.fvia}}
	if f.via != "" && !f.viaOut {
		ways[1][1] = foldPath(strings.TrimPrefix(f.via[len(p.root):], "/"))
	}
	for i, way := range ways {
		if way[0] == "" {
			continue
		}
		fetched := i == 0 && dependency(way[1]) && (f.inside || p.opens(a, f.path)) && !(a.Kind == Write && a.Op != Delete && safefile.InGit(way[1])) // a repository may be in the index of the root's
		if fetched && (a.Kind != Read || p.moved == nil) {
			continue
		}
		hit, ok := p.guard(a, f, way[0], way[1])
		if ok && fetched && !p.moved(filepath.FromSlash(f.path)) {
			ok = false
		}
		if ok && (hit.cell == readSecret || hit.cell == readSecretOutside) && p.inHistory(f, i) {
			ok = false
		}
		if !ok {
			continue
		}
		s := p.settings[hit.cell]
		if hit.below && a.Op != Delete && s.verdict == Deny {
			s.verdict = Ask
		}
		if s.verdict == Deny {
			return Decision{Verdict: Deny, Rule: guardName(hit.cell) + hit.pattern, Why: guardWhy(hit.cell)}, true
		}
		if s.verdict < soft.verdict {
			*soft, *part = s, hit.part
			if soft.rule, soft.why = guardName(hit.cell)+hit.pattern, guardWhy(hit.cell); hit.below {
				soft.why = guardBelow(hit.cell)
			}
		}
	}
	return d, false
}

// dependency reports whether a path in the root lies in what package managers
// fetch and replace as they like: nothing there is the user's secret, and no
// editor or service is told anything by it.
func dependency(rel string) bool {
	for _, dir := range [...]string{"node_modules/", "site-packages/", "dist-packages/", "bower_components/", "_deps/"} {
		if strings.HasPrefix(rel, dir) || strings.Contains(rel, "/"+dir) {
			return true
		}
	}
	return false
}

// inHistory reports whether what has a secret's name is in git's history anyway:
// the file itself, or the name that leads to it.
func (p *Policy) inHistory(f *facts, way int) bool {
	path, inside := f.path, f.inside
	if way > 0 {
		path, inside = f.via, !f.viaOut
	}
	inside = inside || p.encloses(path)
	path = filepath.FromSlash(path)
	return inside && p.committed != nil && p.committed([]string{path})[path]
}

func (p *Policy) guard(a *Access, f *facts, abs, rel string) (hit guardHit, ok bool) {
	if a.Kind == Read {
		if hit, ok = p.reads().find(abs, rel, false); !ok {
			hit, ok = procSecret(abs)
		}
		made := a.Tool == commandTool && f.temp && (a.File == Missing || a.Fresh && p.Holds()) // by the command, or since the session began
		if !ok || made || a.Own || isPublic(abs) {
			return hit, false
		}
		hit.cell = readSecret
		if !f.inside {
			hit.cell = readSecretOutside
		}
		return hit, true
	}
	if hit, ok = gitCell(rel, a); ok {
		return hit, true
	}
	if safefile.Below("/dev", abs) && !safefile.Below("/dev/shm", abs) { // what commands use as they use echo is harmless, see there
		return guardHit{cell: writeProtected, pattern: "/dev", part: "dev"}, true
	}
	if hit, ok = p.writes().find(abs, rel, a.Tree); ok {
		return hit, !(hit.cell == writeSensitive && p.untrusted(a, f))
	}
	if hit, ok = p.reads().find(abs, rel, false); ok && a.Tool != commandTool && !isPublic(abs) {
		hit.cell = readSecret // what may not be seen just so is not replaced just so
		if !f.inside {
			hit.cell = readSecretOutside
		}
		return hit, true
	}
	if a.Tree && !a.Each && f.inside && f.path == p.root && !(a.Op == Metadata && a.Tool == commandTool && p.Holds() && !p.closes()) { // whatever the root holds
		return guardHit{cell: writeSensitive, pattern: ".git/**", part: ".git", below: true}, true
	}
	return hit, false
}

// untrusted reports whether a command writes in a directory that was made in a temporary
// one since the session began: nobody else runs or trusts what a file says there, as one in a
// home that is made for a test. A name right in a temporary directory is seen from all below.
func (p *Policy) untrusted(a *Access, f *facts) bool {
	if a.Tool != commandTool || !a.Fresh || !f.temp || !p.Holds() || f.via != "" || a.Links > 1 || a.Opaque != "" {
		return false
	}
	return slices.ContainsFunc(p.temp, func(dir string) bool {
		first := firstBelow(dir, f.path)
		return first != "" && first[0] != '.' && len(f.path) > len(trimSlash(dir)+"/"+first)
	})
}

// procSecret finds what /proc shows of other programs' memory and secrets.
func procSecret(p string) (hit guardHit, ok bool) {
	if !strings.HasPrefix(p, "/proc/") {
		return hit, false
	}
	name := p[strings.LastIndexByte(p, '/')+1:]
	switch name {
	case "environ", "mem", "auxv", "maps", "smaps", "smaps_rollup", "numa_maps", "pagemap", "stack", "syscall", "clear_refs":
		return guardHit{pattern: "/proc/*/" + name, part: name}, true
	}
	return hit, false
}

func isPublic(p string) bool {
	if original, _ := originals(p); original != "" {
		p = original
	}
	for _, end := range notSecret {
		if strings.HasSuffix(p, end) {
			return true
		}
	}
	return false
}

func guardName(c cell) string {
	switch c {
	case readSecret, readSecretOutside:
		return "secrets: "
	case writeSensitive:
		return "sensitive: "
	}
	return "protected: "
}

func guardWhy(c cell) string {
	switch c {
	case readSecret, readSecretOutside:
		return "the file may hold secrets"
	case writeSensitive:
		return "other programs run or trust what the file says"
	}
	return "programs run what the file says, unasked"
}

// guardBelow is guardWhy for a directory in which such a file may lie.
func guardBelow(c cell) string {
	if c == writeSensitive {
		return "other programs run or trust what files in it say"
	}
	return "programs run what files in it say, unasked"
}

// fileSetting picks the row of the profile table for an ordinary file.
func (p *Policy) fileSetting(a *Access, f *facts) *setting {
	s := &p.settings[p.fileCell(a, f)]
	if a.Opaque == "" {
		return s
	}
	if o := p.opaqueSetting(a); o.verdict < s.verdict || a.Guess && s.layer == BuiltIn {
		return o
	}
	return p.atLeastAsk(s, p.unconfined(a))
}

// unconfined is empty where something holds whatever a command tries.
func (p *Policy) unconfined(a *Access) string {
	if a.Tool == commandTool && p.Holds() {
		return ""
	}
	return a.Opaque
}

func (p *Policy) fileCell(a *Access, f *facts) cell {
	read := a.Kind == Read
	switch {
	case f.harmless, read && p.readable(f.folded):
		return useTool
	case f.inside && read:
		return readInside
	case f.inside:
		return writeInside
	case f.temp && read:
		return readTemp
	case f.temp:
		return writeTemp
	case read && a.Tool == commandTool && p.common(a, f):
		return readSystem
	case read && a.Tool == commandTool && (p.systemFile(f.path) || listed(f.path) || f.via != "" && (p.dotLink(f) || ownProcess(f) || ownDevice(f))):
		return readSystem
	case read:
		return readOutside
	case a.Tool == commandTool:
		return commandOutside // it can be asked about, where a tool's own path is more often a mistake
	}
	return writeOutside
}

// ownProcess reports whether what a program may see of itself is read, which /proc names
// by a link, and /etc/mtab, too.
func ownProcess(f *facts) bool {
	return strings.HasPrefix(f.path, "/proc/") && (f.via == "/etc/mtab" || strings.HasPrefix(f.via, "/proc/") && slices.Contains(systemDirs[:], f.via))
}

// ownDevice reports whether a file of a network interface or a disk is read by the name that the system's directories have for it:
// they are links of the kernel's to the devices.
func ownDevice(f *facts) bool {
	for _, dir := range [...]string{"/sys/class/net/", "/sys/block/"} {
		if below, ok := strings.CutPrefix(f.via, dir); ok && strings.HasPrefix(f.path, "/sys/devices/") && strings.HasSuffix(f.path, "/"+path.Base(dir)+"/"+below) {
			return true
		}
	}
	return false
}

// common reports whether a directory is read whose names everybody knows: the top,
// without what is below it, or a temporary one.
func (p *Policy) common(a *Access, f *facts) bool {
	switch {
	case a.File != Dir:
		return false
	case slices.Contains(p.temp, f.path):
		return !a.Tree || !safefile.Below(f.path, p.root) && !safefile.Below(f.path, p.home)
	}
	return (f.path == "/" || f.path == "/proc" || f.path == "/run") && !a.Tree
}

// listed reports what everybody sees of another program who lists the programs that run.
func listed(name string) bool {
	id, what, ok := strings.Cut(strings.TrimPrefix(name, "/proc/"), "/")
	return ok && strings.HasPrefix(name, "/proc/") && isNumber(id) && slices.Contains([]string{"cgroup", "cmdline", "comm", "stat", "status"}, what)
}

// readable reports the caller's own directories, such as the session's spill.
func (p *Policy) readable(folded string) bool {
	for _, dir := range p.spill {
		if safefile.Below(dir, folded) {
			return true
		}
	}
	return false
}
