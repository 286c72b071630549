package programs

import (
	"path"
	"slices"
	"strings"
)

// tar reads tar in its three spellings. What an archive holds is not known, so
// what extracting writes is not either.
func (c *Call) tar() {
	c.parse()
	extract := c.has("extract", "delete", "append", "update", "create", "catenate")
	archive, named := c.optionValue("file")
	if named && !archive.Dynamic && strings.Contains(archive.Text, ":") && !c.has("force-local") {
		c.opaque("an archive on another host")
	}
	if named {
		role := Read
		if c.has("create", "append", "update", "delete", "catenate") {
			role = Write
		}
		if archive.Text != "-" {
			c.does(role, archive)
		}
	}
	if !extract {
		c.Shell.SetClass(ReadOnly)
	}
	switch {
	case c.has("extract") && c.has("to-stdout"):
	case c.has("extract"):
		c.Shell.SetClass(Known)
		into := Word{Text: "."}
		for _, o := range c.Given {
			if hasName(o.Names, "directory") && o.HasValue {
				c.Shell.Move(into)
				into = o.Value
			}
		}
		c.Shell.File(File{Effect: Create, Word: into, Why: "the archive decides what is written"})
	case c.has("create", "append", "update", "diff", "catenate"): // -A takes its operands in as they are
		c.packed()
	}
}

// zip packs what its operands name but the first, the archive; with -m that goes.
func (c *Call) zip() {
	c.parse()
	c.operands(c.Record.Operands)
	if c.has("m", "move") && len(c.Args) > 0 {
		for _, x := range c.Args[1:] {
			c.file(DeleteTree, x)
		}
	}
}

// packed lists what tar is to pack: each -C counts for the operands behind it, and from
// the one before.
func (c *Call) packed() {
	done := 0
	list := func(end int) {
		for ; done < end; done++ {
			c.does(ReadTree, c.Args[done])
			if x := c.Args[done]; strings.HasPrefix(x.Text, "@") { // of bsdtar: an archive whose entries it packs
				c.does(Read, after(x, "@"))
			}
			if c.has("remove-files") {
				c.file(DeleteTree, c.Args[done])
			}
		}
	}
	for _, o := range c.Given {
		if hasName(o.Names, "directory") && o.HasValue {
			list(o.Behind)
			c.Shell.Move(o.Value)
		}
	}
	list(len(c.Args))
}

// copyCommand reads cp and install: the last operand, or -t, is written.
func (c *Call) copyCommand() {
	c.parse()
	if c.Name == "install" && c.has("d", "directory") {
		c.operands("create*")
		return
	}
	sources, target, into := c.sourcesAndTarget()
	tree := c.has("r", "R", "a", "recursive", "archive")
	read := Read
	if tree {
		read = ReadTree
	}
	for _, s := range sources {
		c.file(read, s)
	}
	c.written(sources, target, into, tree)
	for _, s := range sources {
		switch {
		case !c.has("s", "symbolic-link"):
		case s.Dynamic || s.Pattern != "" || target.Dynamic:
			c.Shell.Link("", "", true)
		default:
			c.Shell.Link(s.Text, target.Text, true)
		}
	}
	if tree || c.has("d", "P", "s", "l", "symbolic-link", "link", "no-dereference") {
		c.Shell.Changed()
	}
}

// sourcesAndTarget splits the operands of cp and its like into sources and target.
func (c *Call) sourcesAndTarget() (sources []Word, target Word, into bool) {
	if t, ok := c.optionValue("target-directory"); ok {
		return c.Args, t, true
	}
	n := len(c.Args)
	if n == 1 && c.Args[0].Dynamic { // it may be several, of which the last is the target
		c.opaque("the target is not known before it runs")
		return c.Args, c.Args[0], true
	}
	if n < 2 {
		return c.Args, Word{}, false
	}
	if last := c.Args[n-1]; last.Multi {
		c.opaque("the target is not known before it runs")
	}
	return c.Args[:n-1], c.Args[n-1], n > 2
}

// written lists what arrives at a target: below it when it is a directory.
func (c *Call) written(sources []Word, target Word, into, tree bool) {
	c.lower(Known)
	if target.Text == "" && !target.Dynamic {
		return
	}
	if target.Dynamic {
		c.file(Write, target)
		if c.has("b", "backup", "suffix") {
			c.opaque("the old file is kept under another name")
			c.keeps(target)
		}
		return
	}
	dir := into
	certain := into
	for _, r := range c.Shell.Resolve(target.Text) {
		switch r.Type {
		case Dir:
			dir, certain = true, true
		case "":
			dir = true
		case Missing: // the text may make it
			dir = dir || strings.HasSuffix(target.Text, "/") || c.Shell.Makes(r.Path)
		}
	}
	if c.has("T", "no-target-directory") {
		dir, certain = false, false
	}
	if c.has("parents") { // there has to be one
		dir, certain = true, true
	}
	if !certain || len(sources) == 0 {
		c.file(Write, target)
		c.backup(target.Text, tree)
	}
	for _, s := range sources {
		switch f := (File{Effect: Write, Word: target, Source: target.Text}); {
		case !dir:
			return
		case s.Dynamic:
			f.Why = "the name is not known before it runs"
			c.Shell.File(f)
			if c.has("b", "backup", "suffix") {
				c.keeps(target)
			}
		default:
			name := path.Base(s.Text)
			if c.has("parents") { // with the directories that it was named by
				name = strings.TrimLeft(s.Text, "/")
			}
			if f.Word = (Word{Text: strings.TrimSuffix(target.Text, "/") + "/" + name}); tree {
				f.Effect = WriteTree
			}
			c.Shell.File(f)
			c.backup(f.Word.Text, tree)
		}
	}
}

// BackupOf is what the source of an access begins with that reads a file because what it held is kept under another name.
const BackupOf = "backup of "

// backup lists the name that what stood at a target gets, where the call keeps that, and that it goes there.
func (c *Call) backup(target string, tree bool) {
	suffix, named := c.optionValue("suffix")
	if !named && !c.has("b", "backup") {
		return
	}
	if !named && c.Name != "rsync" {
		if v, ok := c.Shell.Getenv("SIMPLE_BACKUP_SUFFIX"); ok && v != "" {
			suffix, named = Word{Text: v}, true
		}
	}
	if !named {
		suffix.Text = "~"
	}
	switch {
	case suffix.Dynamic || named && (tree || strings.Contains(suffix.Text, "/")):
		c.opaque("the old file is kept under another name")
	case !tree:
		c.file(Write, Word{Text: target + suffix.Text})
	}
	names := []string{suffix.Text}
	if c.Name != "rsync" {
		names = append(names, ".~1~")
	}
	if suffix.Dynamic || c.Shell.Sets("SIMPLE_BACKUP_SUFFIX") || c.has("backup-dir") {
		names = nil
	}
	c.keeps(Word{Text: target}, names...)
}

// keeps says that what a file holds is kept under its name with another ending, which is one of these; without one
// nobody knows. There it can be read by whoever may not read the file itself, unless that name is as guarded.
func (c *Call) keeps(x Word, endings ...string) {
	if x.Dynamic {
		c.Shell.File(File{Effect: Read, Word: x, Source: BackupOf + x.Text})
		return
	}
	effect := Effect("")
	for _, p := range c.Shell.Resolve(x.Text) {
		switch {
		case p.Type == Dir:
			effect = ReadTree
		case p.Type == Missing || effect != "":
		case len(endings) == 0 || slices.ContainsFunc(endings, func(ending string) bool {
			return !c.Shell.Guarded(path.Dir(p.Path), path.Base(p.Path)+ending)
		}):
			effect = Read
		}
	}
	if effect != "" {
		c.Shell.File(File{Effect: effect, Word: x, Source: BackupOf + x.Text})
	}
}

// moveCommand reads mv: the sources are gone, the target is written.
func (c *Call) moveCommand() {
	c.parse()
	sources, target, into := c.sourcesAndTarget()
	for _, s := range sources {
		isDir := func(p Path) bool { return p.Type == Dir }
		switch {
		case s.Dynamic && (s.Under == "" || s.Listed != nil || s.Loop): // what is moved is not gone
			any := s
			any.Under = ""
			c.file(Write, any)
			c.file(Read, s)
		case slices.ContainsFunc(c.Shell.Resolve(s.Text), isDir):
			c.file(DeleteTree, s)
			c.file(ReadTree, s)
		default:
			c.file(Delete, s)
			c.file(Read, s)
		}
	}
	if !target.Dynamic && target.Text == "/dev/null" {
		c.danger("loses the file")
	}
	c.written(sources, target, into, false)
	for _, s := range sources {
		if !s.Dynamic && !target.Dynamic {
			c.Shell.Relink(s.Text, target.Text)
		}
	}
	c.Shell.Changed()
}

// mktempCommand reads mktemp: what it makes is called as its template, whose X become others,
// with the suffix.
func (c *Call) mktempCommand() {
	c.parse()
	template := Word{Text: "tmp.XXXXXXXXXX"}
	if len(c.Args) > 0 {
		template = c.Args[0]
	}
	dir, named := c.optionValue("p")
	if v, ok := c.optionValue("tmpdir"); ok {
		dir, named = v, true
	}
	suffix, _ := c.optionValue("suffix")
	switch {
	case named:
	case len(c.Args) == 0 && suffix.Text == "" && !suffix.Dynamic: // one of its own, where such files are
		return
	case len(c.Args) == 0 || c.has("t", "p", "tmpdir"):
		dir = Word{Text: "/tmp"}
		if v, ok := c.Shell.Getenv("TMPDIR"); ok && v != "" {
			dir.Text = v
		}
	case template.Dynamic:
		c.does(Create, template)
		return
	default:
		dir.Text, template.Text = path.Dir(template.Text), path.Base(template.Text)
	}
	switch {
	case dir.Dynamic:
		c.does(Write, dir)
	case template.Dynamic || suffix.Dynamic:
		c.Shell.File(File{Effect: Create, Word: dir, Why: "the name is not known before it runs"})
	default:
		c.does(Create, Word{Text: strings.TrimSuffix(dir.Text, "/") + "/" + template.Text + suffix.Text})
	}
}

// linkCommand reads ln and link. A hard link to a file outside brings it
// inside, and a symbolic one is a way there for what runs later in the text.
func (c *Call) linkCommand() {
	c.parse()
	c.lower(Known)
	sources, target, into := c.sourcesAndTarget()
	if len(c.Args) == 1 && target.Text == "" {
		sources, target = c.Args, Word{Text: "."}
	}
	symbolic := c.has("s", "symbolic")
	for _, s := range sources {
		if !symbolic {
			c.file(Read, s)
			c.file(Meta, s)
		}
	}
	c.written(sources, target, into, false)
	for _, s := range sources {
		if s.Dynamic || s.Pattern != "" || target.Dynamic {
			c.Shell.Link("", "", symbolic) // where, or to what, is not known
			continue
		}
		c.Shell.Link(s.Text, target.Text, symbolic)
	}
	c.Shell.Changed()
}
