package programs

import (
	"cmp"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/safefile"
)

// SetsUser is the danger of a mode that has a program run with the rights of its owner.
const SetsUser = "gives a program another user's rights"

// The dangers that are no more than a loss: of files, or of what they held.
const (
	losesRows    = "drops or empties a table of a file"
	losesAsked   = "deletes without asking"
	losesMatches = "deletes every match"
	losesWork    = "discards uncommitted work"
	losesUnknown = "deletes untracked files"
	losesCommits = "drops commits that are nowhere else"
	losesStash   = "drops saved work"
	losesRef     = "drops a reference"
	losesContent = "empties a file"
	losesPart    = "empties or cuts a file"
	losesTree    = "deletes a whole tree that is not the project's"
	losesOthers  = "deletes what the source does not have"
)

// IsLoss reports whether a danger is that files are lost, or what they held:
// whoever sees what is there may find that nothing is.
func IsLoss(why string) bool {
	switch why {
	case losesAsked, losesMatches, losesWork, losesUnknown, losesCommits, losesStash, losesRef, losesContent, losesRows, losesPart, losesTree, losesOthers:
		return true
	}
	return false
}

// GitMayLose reports whether a danger of git's is one of what it takes away in its repository, which whoever
// sees that may find to be nothing, or can keep.
func GitMayLose(why string) bool { return IsLoss(why) || why == movesTag || why == removesWay }

// The dangers of other modes for what the workspace holds, and for all of it with git's own.
const (
	changesModes    = "changes the modes of the whole workspace"
	changesAllModes = "changes the modes of the whole workspace, git's own files and what is protected among them"
)

// ChangesModes reports whether a danger is no other than that modes are changed in the workspace, by which nothing is lost; all
// says that git's own files are among them, which a sandbox may refuse to change.
func ChangesModes(why string) (all, is bool) {
	return why == changesAllModes, why == changesAllModes || why == changesModes
}

// codeDeletes is the danger of code of which nobody knows what it deletes.
const codeDeletes = "its code deletes"

// CodeLoses reports whether a danger is that of code which deletes something.
func CodeLoses(why string) bool { return why == codeDeletes }

// PathsAlone counts the words of a call of git up to "--", where what is not known before it
// runs are paths behind that, of files in the work tree that it makes again as HEAD or the index has
// them, or removes; 0 where it is more. What another commit has may take the place of a file that git does not know.
func PathsAlone(argv []string, dynamic []bool) int {
	end := slices.Index(argv, "--") + 1
	if end < 3 || filepath.Base(argv[0]) != "git" || !Has("checkout restore clean rm", argv[1]) || slices.Contains(dynamic[:min(end, len(dynamic))], true) {
		return 0
	}
	known := "-q --quiet -f --force -r -W --worktree -S --staged --cached"
	if Has("checkout restore", argv[1]) { // of a conflict the index has all three
		known += " --ours --theirs -2 -3"
	}
	if slices.ContainsFunc(argv[2:end-1], func(word string) bool { return !Has(known, word) }) {
		return 0
	}
	return end
}

// HarmsOthers reports whether a danger is that others lose what they have.
func HarmsOthers(why string) bool { return why == harmsOthers || why == movesTag }

const (
	harmsOthers = "rewrites or deletes what others have"
	movesTag    = "moves a tag that others have"
	removesWay  = "removes the way back"
)

// The dangers that are the end of other programs, of which a sandbox shows none.
const (
	endsByName    = "ends processes by name"
	endsByPattern = "ends processes by pattern"
)

const changesMounts = "changes what is mounted"

// EndsOthers reports whether a danger is that programs end which the command has not
// started.
func EndsOthers(why string) bool { return why == endsByName || why == endsByPattern }

// IsFileLoss reports whether a loss is that of files which the call names.
func IsFileLoss(why string) bool {
	return IsLoss(why) && !LosesWork(why) && !LosesUntracked(why) && !LosesCommits(why)
}

// LosesContent reports whether a redirection empties a file.
func LosesContent(why string) bool { return why == losesContent }

// LosesWork reports whether git itself takes away or overwrites files that are
// changed.
func LosesWork(why string) bool { return why == losesWork }

// LosesUntracked reports whether git takes away files that it does not know.
func LosesUntracked(why string) bool { return why == losesUnknown }

// LosesCommits reports whether git drops what a branch, a stash or another reference has.
func LosesCommits(why string) bool { return why == losesCommits || LosesReference(why) }

// LosesReference reports whether git drops what only its own files can bring back.
func LosesReference(why string) bool { return why == losesStash || why == losesRef }

// Hazards looks for the ways of calling c that are dangerous.
func (c *Call) Hazards() {
	r, _ := Lookup(strings.TrimSuffix(c.Name, ".exe"))
	if r != nil {
		if r.Danger != "" {
			c.danger(r.Danger)
		}
		for i := range r.Dangers {
			if c.matches(&r.Dangers[i]) {
				c.danger(r.Dangers[i].Why)
			}
		}
	}
	c.broad()
	if r != nil && r.SQL {
		c.database()
	}
}

// matches reports whether a call is as h says. Dynamic words may be anything,
// but only known ones are held against it.
func (c *Call) matches(h *Way) bool {
	words := c.Words[1:]
	return (h.Sub == "" || c.subMatches(h.Sub)) && (h.Option == "" || anyOption(words, h.Option)) && (h.Arg == "" || slices.ContainsFunc(words, func(x Word) bool { return !x.Dynamic && oneOf(x.Text, h.Arg) }))
}

// subMatches reports whether a word that may be the subcommand is one of the alternatives.
func (c *Call) subMatches(sub string) bool {
	return slices.ContainsFunc(c.subcommands(), func(w string) bool { return oneOf(w, sub) })
}

// oneOf reports whether s matches one of the patterns: * at either end, ? for
// one character.
func oneOf(s, patterns string) bool {
	for p := range strings.FieldsSeq(patterns) {
		switch {
		case strings.HasSuffix(p, "*") && strings.HasPrefix(s, p[:len(p)-1]):
			return true
		case strings.Contains(p, "?") && len(p) == len(s) && s[0] == p[0] && strings.Trim(s, "01234567") == "":
			return true
		case p == s:
			return true
		}
	}
	return false
}

// anyOption reports whether one of the options stands among the words, in a
// cluster, shortened, or glued to a value.
func anyOption(words []Word, names string) bool {
	for _, x := range words {
		t := x.Text
		if x.Dynamic {
			t = x.Lead
		}
		if t == "--" {
			return false
		}
		if !strings.HasPrefix(t, "-") || t == "-" {
			continue
		}
		long, _, _ := strings.Cut(strings.TrimLeft(t, "-"), "=")
		for n := range strings.FieldsSeq(names) {
			switch {
			case len(n) == 1 && !strings.HasPrefix(t, "--") && strings.Contains(t[1:], n) && len(t) <= 12:
				return true
			case len(n) > 1 && len(long) > 1 && (long == n || strings.HasPrefix(t, "--") && strings.HasPrefix(n, long) && len(long) > 2):
				return true
			}
		}
	}
	return false
}

// switched is anyOption where the last spelling counts: --no-NAME, =false and a word "false" behind the option
// take it back. Of these the names that yargs takes for the same (--noDryRun), and shortened ones, count as well.
func switched(words []Word, names string) (on bool) {
	for i, x := range words {
		if x.Text == "--" {
			break
		}
		for name := range strings.FieldsSeq(names) {
			switch {
			case takesBack(x.Text, name):
				on = false
			case anyOption(words[i:i+1], name):
				on = i+1 == len(words) || words[i+1].Text != "false"
			}
		}
	}
	return on
}

// takesBack reports whether a word says that an option is off.
func takesBack(word, name string) bool {
	if !strings.HasPrefix(word, "-") {
		return false
	}
	given, value, glued := strings.Cut(strings.TrimLeft(word, "-"), "=")
	given = dashed(given)
	off := glued && Has("false f 0 no n off", strings.ToLower(value))
	if len(name) == 1 {
		return off && anyOption([]Word{{Text: word}}, name)
	}
	return off && given == name || len(given) > 3 && strings.HasPrefix("no-"+name, given) || given == "no"+name
}

// dashed is a name of an option with dashes between its words: dryRun and dry_run are dry-run.
func dashed(name string) string {
	var b strings.Builder
	for _, r := range name {
		switch {
		case 'A' <= r && r <= 'Z':
			b.WriteByte('-')
			r += 'a' - 'A'
		case r == '_':
			r = '-'
		}
		b.WriteRune(r)
	}
	return b.String()
}

// broad judges changes of whole trees, and of devices.
func (c *Call) broad() {
	switch c.Name {
	case "rm", "chmod", "chown", "chgrp", "setfacl":
	case "dd":
		for _, x := range c.Words[1:] {
			if to, ok := strings.CutPrefix(x.Text, "of="); ok && Device(strings.ToLower(to)) {
				c.danger("writes to a device")
			}
		}
		return
	case "kill":
		for i, x := range c.Words {
			if x.Text == "-1" && i > 1 {
				c.danger("ends every process")
			}
		}
		return
	case "cp", "install":
		if n := len(c.Words); n > 2 && c.Words[1].Text == "/dev/null" {
			c.danger(losesContent)
		}
		if m, ok := c.optionValue("mode"); ok && c.Name == "install" && (len(m.Text) == 4 && strings.Trim(m.Text[:1], "24567") == "" || strings.Contains(m.Text, "s")) {
			c.danger(SetsUser)
		}
		c.inherit()
		return
	default:
		c.inherit()
		return
	}
	if !anyOption(c.Words[1:], "r R recursive") {
		return
	}
	const notProjects = "changes a whole tree that is not the project's"
	why := ""
	for _, x := range c.Words[1:] {
		switch {
		case strings.HasPrefix(x.Text, "-") || !c.broadTarget(x):
		case c.Name == "rm":
			why = losesTree
		case !c.inWorkspace(x):
			why = notProjects
		case why == notProjects:
		case c.Name == "chmod" && x.Pattern == "" && x.Text != "*":
			why = changesAllModes
		case c.Name == "chmod":
			why = cmp.Or(why, changesModes)
		default:
			why = cmp.Or(why, "changes whose the whole workspace is")
		}
	}
	if why != "" {
		c.danger(why)
	}
}

// inherit takes over the danger of the files that c writes.
func (c *Call) inherit() {
	for _, why := range c.Shell.Dangers() {
		c.danger(why)
	}
}

// broadTarget reports whether a word names the root of the file system, the
// home, the workspace itself or something outside it.
func (c *Call) broadTarget(x Word) bool {
	if x.Dynamic {
		return strings.HasPrefix(x.Lead, "/") && !c.Shell.Writable(x.Lead)
	}
	if x.Text == "" || x.Text == "*" || x.Pattern != "" && Loosely(x.Pattern) {
		return true
	}
	for _, r := range c.Shell.Resolve(x.Text) {
		p := r.Path
		if p == "/" || p == c.Shell.Home() || p == c.Shell.Root() || c.Shell.Root() != "" && safefile.Below(p, c.Shell.Root()) || strings.HasPrefix(p, "/") && !c.Shell.Writable(p) {
			return true
		}
	}
	return false
}

// inWorkspace reports whether what broadTarget says of a word is that it names all of the workspace, or what lies in a directory of it.
func (c *Call) inWorkspace(x Word) bool {
	if x.Dynamic {
		return false
	}
	at := x.Text
	if x.Pattern != "" || at == "*" {
		at = path.Dir(cmp.Or(x.Pattern, at))
	}
	found := c.Shell.Resolve(at)
	return len(found) > 0 && c.Shell.Root() != "" && !slices.ContainsFunc(found, func(r Path) bool { return !safefile.Below(c.Shell.Root(), r.Path) })
}

// destructive finds calls in code that plainly delete what may hold something. rmdir takes empty
// directories alone, unless it is told to take what they hold. A word of a comment is no call, as far as what stands
// beside it tells, and a command of the shell deletes where the code starts one.
func destructive(code string) string {
	if !strings.Contains(code, "recursive") {
		code = strings.ReplaceAll(code, "rmdir", "")
	}
	for _, name := range [...]string{"rmtree", "os.remove", "unlink", "rimraf", "rmSync", "rmdir", "fs.rm", "promises.rm", "remove_tree", "remove_dir", "remove_entry", "FileUtils.rm", "File.delete", "deleteSync", "Deno.remove", "truncate("} {
		if calls(code, name) {
			return codeDeletes
		}
	}
	runs := func(s string) bool { return strings.Contains(code, s) }
	if runs("mkfs") || (runs("rm -rf") || runs("rm -fr") || runs("rm -r")) && slices.ContainsFunc([]string{"system", "exec", "spawn", "popen", "Popen", "subprocess", "run", "call", "sh(", "sh ", "$`", "%x", "`"}, runs) {
		return codeDeletes
	}
	return ""
}

// calls reports whether a function whose name begins so may be called in code, handed to another one, or imported. It is
// no call where it stands behind the beginning of a comment and what follows is a word, or where a backslash follows, as in a pattern.
func calls(code, name string) bool {
	for at := 0; ; {
		i := strings.Index(code[at:], name)
		if i < 0 {
			return false
		}
		line := code[strings.LastIndexByte(code[:at+i], '\n')+1 : at+i]
		rest := strings.TrimLeft(code[at+i+len(name):], variableName+"!?")
		at += i + len(name)
		word := len(rest) > 1 && rest[0] == ' ' && rest[1] >= 'a' && rest[1] <= 'z'
		if name == "unlink" && sharesMemory(code, line, rest) {
			continue
		}
		if !(word && (strings.Contains(line, "# ") || strings.Contains(line, "// ")) || strings.HasPrefix(rest, `\`)) {
			return true
		}
	}
}

// sharesMemory reports whether what stands between these, NAME.unlink(), takes away a piece of shared memory that
// Python code has made itself: wherever it gives NAME a value, that is one.
func sharesMemory(code, before, behind string) bool {
	before, method := strings.CutSuffix(before, ".")
	name := before[len(strings.TrimRight(before, variableName)):]
	if !method || name == "" || !strings.HasPrefix(behind, "()") || strings.HasSuffix(before[:len(before)-len(name)], ".") || !strings.Contains(code, "multiprocessing") {
		return false
	}
	for _, other := range [...]string{"as SharedMemory", "as shared_memory", "as multiprocessing", "class SharedMemory", "def SharedMemory", "SharedMemory =", "SharedMemory=", "shared_memory =", "shared_memory="} {
		if strings.Contains(code, other) {
			return false
		}
	}
	made := false
	for at := 0; ; {
		i := strings.Index(code[at:], name)
		if i < 0 {
			return made
		}
		i += at
		at = i + len(name)
		ahead, next := code[:i], strings.TrimLeft(code[at:], " \t")
		if strings.TrimRight(ahead, variableName) != ahead || strings.Trim(code[at:min(at+1, len(code))], variableName) == "" && at < len(code) {
			continue // a part of another name
		}
		value, set := strings.CutPrefix(next, "=")
		ahead = strings.TrimRight(ahead, " \t")
		switch {
		case set && !strings.HasPrefix(value, "="):
			value, _, _ = strings.Cut(strings.TrimPrefix(strings.TrimPrefix(strings.TrimSpace(value), "multiprocessing."), "shared_memory."), ")")
			if !strings.HasPrefix(value, "SharedMemory(") || !strings.Contains(value, "create=True") {
				return false
			}
			made = true
		case strings.HasPrefix(next, ".") || strings.HasPrefix(next, ")") && strings.HasSuffix(ahead, "(") && !strings.Contains(code, "def "): // its methods, or it is handed on
		default: // as the variable of a loop, an import, a parameter
			return false
		}
	}
}

// gitDanger judges a subcommand of git whose options are read.
func (c *Call) gitDanger(g *gitCommand, cfg *repository) {
	first := ""
	if len(c.Args) > 0 {
		first = c.Args[0].Text
	}
	for i := range gitLosses {
		l := &gitLosses[i]
		if l.sub == g.name && (l.opts == "" || c.has(strings.Split(l.opts, ",")...)) && (l.without == "" || !c.on(l.without)) && (l.first == "" || hasName(l.first, first)) {
			if l.drops {
				c.Shell.Drops()
			}
			if l.why == movesTag && cfg.top != "" && len(cfg.remotes) == 0 { // nobody else has it
				continue
			}
			if l.why != "" {
				c.danger(l.why)
			}
		}
	}
	switch g.name {
	case "push", "send-pack":
		for _, x := range c.Args {
			if strings.HasPrefix(x.Text, "+") || strings.HasPrefix(x.Text, ":") && len(x.Text) > 1 {
				c.danger(harmsOthers)
			}
		}
	case "branch":
		if c.has("d") && c.has("f") {
			c.danger(losesCommits)
		}
	case "checkout": // paths, with or without a revision before them
		words, args := c.Words, c.Args
		if words[len(words)-1].Text == "--" { // no path follows, so what stands before is a revision
			words = words[:len(words)-1]
			args = slices.DeleteFunc(slices.Clone(args), func(x Word) bool { return x.Text == "--" })
		}
		paths := slices.ContainsFunc(words, func(x Word) bool { return x.Text == "--" }) && len(args) > 0
		if paths || len(args) > 1 && !c.has("b") || first == "." || strings.HasPrefix(first, "./") || strings.HasPrefix(first, ":") || c.mayBePath(args) {
			c.danger(losesWork)
			c.Shell.Drops()
		}
	case "fetch", "pull": // a branch or a tag here becomes what the remote has
		if slices.ContainsFunc(c.Args, func(x Word) bool {
			_, to, ok := strings.Cut(x.Text, ":")
			return ok && !strings.HasPrefix(to, "refs/remotes/") && (x.Text[0] == '+' || c.has("f"))
		}) {
			c.Shell.Drops()
		}
	case "symbolic-ref":
		if len(c.Args) > 1 {
			c.Shell.Drops()
		}
	}
}

// GitMayDrop reports whether a call whose words are not read is one of git with a subcommand by which
// something may go.
func (c *Call) GitMayDrop() bool {
	return c.Name == "git" && slices.ContainsFunc(c.Words[1:], func(x Word) bool { return GitDrops(x.Text) })
}

// KnownGit reports whether a subcommand is git's own, and no alias and no program that git looks for.
func KnownGit(sub string) bool { return findGit(sub) != nil }

// GitDrops reports whether a subcommand of git may take away files, or a name of what its repository holds.
func GitDrops(sub string) bool {
	return Has("fetch pull symbolic-ref", sub) || slices.ContainsFunc(gitLosses[:], func(l gitLoss) bool { return l.drops && l.sub == sub })
}

// mayBePath reports whether the one operand of git checkout may be a file, a directory or a pattern of
// such: git takes it for that where it is no revision.
func (c *Call) mayBePath(args []Word) bool {
	if len(args) != 1 || args[0].Dynamic || c.has("b", "B", "orphan", "d", "t") {
		return false
	}
	name := args[0].Text
	return c.Shell.Exists(name) || strings.ContainsAny(name, "*?[")
}

// Outgrown marks a call that does more than its program's name says.
func (c *Call) Outgrown() {
	if c.Record == nil {
		return
	}
	c.ChosenByProject()
	for i := range c.Record.Opaque {
		if way := &c.Record.Opaque[i]; c.matches(way) {
			c.opaque(way.Why)
		}
	}
	if c.Name == "npm" && c.subMatches("init create innit") && len(c.bare()) > 1 {
		c.opaque("runs a package that it fetches")
	}
	if c.Name == "go" && c.subMatches("run install") && slices.ContainsFunc(c.Words, func(x Word) bool { return strings.Contains(x.Text, "@") }) {
		c.opaque("runs or installs a program that it fetches")
	}
}

// bare gives the words of a call that are no Givens.
func (c *Call) bare() []Word {
	return slices.DeleteFunc(slices.Clone(c.Words[1:]), func(x Word) bool { return strings.HasPrefix(x.Text, "-") })
}

// ChosenByProject notes that a file of the project says what really runs: a
// toolchain, a release of the program, options of its machine.
func (c *Call) ChosenByProject() {
	dirs, _ := c.Shell.Dirs()
	for entry := range strings.FieldsSeq(c.Record.Chosen) {
		name, text, _ := strings.Cut(entry, ":")
		chosen := c.Shell.Writes(name)
		for _, at := range dirs {
			for ; !chosen && at != "" && safefile.Below(c.Shell.Root(), at); at = at[:strings.LastIndexByte(at, '/')] {
				b, err := c.Shell.ReadFile(at + "/" + name)
				chosen = c.there(at, name) && (text == "" || err != nil || strings.Contains(string(b), text))
			}
		}
		if chosen {
			c.opaque(name + " says what runs")
		}
	}
}
