package shellparse

import (
	"slices"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/programs"

	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/safefile"
)

// matches reports whether a call is as h says. Dynamic words may be anything,
// but only known ones are held against it.
func (c *call) matches(h *programs.Way) bool {
	words := c.words[1:]
	return (h.Sub == "" || c.subMatches(h.Sub)) && (h.Option == "" || anyOption(words, h.Option)) && (h.Arg == "" || slices.ContainsFunc(words, func(x word) bool { return !x.dyn && oneOf(x.text, h.Arg) }))
}

// subMatches reports whether the first operand is one of the alternatives.
func (c *call) subMatches(sub string) bool {
	for _, x := range c.words[1:] {
		if x.dyn || strings.HasPrefix(x.text, "-") {
			continue
		}
		if oneOf(x.text, sub) {
			return true
		}
		if i := slices.IndexFunc(c.words, func(y word) bool { return y.text == x.text }); i > 0 && strings.HasPrefix(c.words[i-1].text, "-") && !strings.HasPrefix(c.words[i-1].text, "--") && i > 1 {
			continue // it may be the value of an option
		}
		return false
	}
	return false
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
func anyOption(words []word, names string) bool {
	for _, x := range words {
		t := x.text
		if x.dyn {
			t = x.lead
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

// broad judges changes of whole trees, and of devices.
func (w *walker) broad(c *call) {
	switch c.name {
	case "rm", "chmod", "chown", "chgrp", "setfacl":
	case "dd":
		for _, x := range c.words[1:] {
			if to, ok := strings.CutPrefix(x.text, "of="); ok && device(strings.ToLower(to)) {
				c.danger(w, "writes to a device")
			}
		}
		return
	case "kill":
		for i, x := range c.words {
			if x.text == "-1" && i > 1 {
				c.danger(w, "ends every process")
			}
		}
		return
	case "cp", "install":
		if n := len(c.words); n > 2 && c.words[1].text == "/dev/null" {
			c.danger(w, "empties a file")
		}
		if m, ok := c.optionValue("mode"); ok && c.name == "install" && (len(m.text) == 4 && strings.Trim(m.text[:1], "24567") == "" || strings.Contains(m.text, "s")) {
			c.danger(w, "gives a program another user's rights")
		}
		w.inherit(c)
		return
	default:
		w.inherit(c)
		return
	}
	tree := anyOption(c.words[1:], "r R recursive")
	for _, x := range c.words[1:] {
		if tree && !strings.HasPrefix(x.text, "-") && w.broadTarget(x) {
			c.danger(w, "changes a whole tree that is not the project's")
		}
	}
}

// inherit takes over the danger of the files that c writes.
func (w *walker) inherit(c *call) {
	for _, a := range w.out.Accesses[c.index:] {
		if a.Kind == policy.Write && a.Danger != "" && a.Parent == c.index+1 {
			c.danger(w, a.Danger)
		}
	}
}

// broadTarget reports whether a word names the root of the file system, the
// home, the workspace itself or something outside it.
func (w *walker) broadTarget(x word) bool {
	if x.dyn {
		return strings.HasPrefix(x.lead, "/") && !w.writable(x.lead)
	}
	if x.text == "" || x.text == "*" || x.glob != "" && loose(x.glob) {
		return true
	}
	for _, r := range w.resolve(x.text) {
		p := r.access.Path
		if p == "/" || p == w.world.Home || p == w.world.Root || w.world.Root != "" && safefile.Below(p, w.world.Root) || strings.HasPrefix(p, "/") && !w.writable(p) {
			return true
		}
	}
	return false
}

// database finds statements that drop or empty tables.
func (w *walker) database(c *call) {
	if w.stdin.set && !w.stdin.known {
		c.opaque(w, "the statements come from its input")
	}
	for _, x := range append([]word{{text: w.stdin.text}}, c.words[1:]...) {
		if metaCommand(x.text) {
			c.opaque(w, "a statement that runs, loads or writes something else")
		}
	}
	for _, x := range c.words[1:] {
		up := strings.ToUpper(x.text)
		for _, s := range []string{"DROP DATABASE", "DROP TABLE", "DROP SCHEMA", "DROP USER", "DROP ROLE", "TRUNCATE ", "DELETE FROM", "DROPDATABASE", ".DROP(", "DROP VIEW", "DELETEMANY"} {
			if strings.Contains(up, s) {
				c.danger(w, "drops or empties a table")
			}
		}
	}
}

// metaCommand reports whether text for a database's shell leaves the database:
// \! and .shell run a command, others read and write files.
func metaCommand(text string) bool {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if name, _, _ := strings.Cut(line, " "); len(name) > 2 && name[0] == '.' && name[1] != '/' && name[1] != '.' &&
			!strings.Contains(" .tables .schema .dump .mode .headers .header .indexes .indices .databases .dbinfo .fullschema .stats .width .timer .nullvalue .separator .version .help .quit .exit .changes .echo .bail .show ", " "+name+" ") {
			return true
		}
	}
	up := strings.ToUpper(text)
	for _, s := range [...]string{`\!`, `\O`, `\I `, `\IR `, `\COPY`, `\G |`, `\W `, `\.`, `\E`, "PROGRAM", "LOAD_EXTENSION", "READFILE", "WRITEFILE", "EDIT(", "ATTACH", "OUTFILE", "DUMPFILE", "LOAD_FILE", "LOAD DATA", "SYSTEM ", "SOURCE ", "PG_READ", "LO_IMPORT", "LO_EXPORT"} {
		if strings.Contains(up, s) {
			return true
		}
	}
	return strings.HasPrefix(text, "|")
}

// destructive finds calls in code that plainly delete.
func destructive(code string) string {
	for _, s := range [...]string{"rmtree", "os.remove", "os.unlink", "os.rmdir", "removedirs", "unlink", "rm -rf", "rm -fr", "rm -r", "rimraf", "rmSync", "rmdirSync", "unlinkSync", "fs.rm", "remove_tree", "rmdir", "FileUtils.rm", "File.delete", "Dir.delete", "shutil.move", "mkfs", "deleteSync", "Deno.remove", "truncate(", ".unlink("} {
		if strings.Contains(code, s) {
			return "its code deletes"
		}
	}
	return ""
}

// gitDanger judges a subcommand of git whose options are read.
func (w *walker) gitDanger(c *call, g *gitCommand) {
	first := ""
	if len(c.args) > 0 {
		first = c.args[0].text
	}
	for i := range gitHazards {
		h := &gitHazards[i]
		if h.sub == g.name && (h.opts == "" || c.given(strings.Split(h.opts, ",")...)) && (h.without == "" || !c.given(h.without)) && (h.first == "" || hasName(h.first, first)) {
			c.danger(w, h.why)
		}
	}
	switch g.name {
	case "push":
		for _, x := range c.args {
			if strings.HasPrefix(x.text, "+") || strings.HasPrefix(x.text, ":") && len(x.text) > 1 {
				c.danger(w, "rewrites or deletes what others have")
			}
		}
	case "branch":
		if c.given("d") && c.given("f") {
			c.danger(w, "drops commits that are nowhere else")
		}
	case "checkout": // paths, with or without a revision before them
		paths := slices.ContainsFunc(c.words, func(x word) bool { return x.text == "--" }) && len(c.args) > 0
		if paths || len(c.args) > 1 && !c.given("b") || first == "." || strings.HasPrefix(first, "./") || strings.HasPrefix(first, ":") {
			c.danger(w, "discards uncommitted work")
		}
	}
}
