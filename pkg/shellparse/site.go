package shellparse

import (
	"errors"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/programs"
)

// A site is where a call stands: what its reader sees of the shell, and where
// it lists what the call does.
type site struct {
	w *walker
	c *call
}

// fileAccess says what to list for an effect on a file.
func (s site) fileAccess(f programs.File) fileAccess {
	a := fileAccess{kind: policy.Write, parent: s.c.index + 1, src: cmpOr(f.Source, f.Word.Text), why: f.Why}
	switch f.Effect {
	case programs.Write, programs.WriteTree:
		a.op = policy.Change
	case programs.Settings:
		a.op = policy.Settings
	case programs.Create:
		a.op = policy.Create
	case programs.Delete, programs.DeleteTree:
		a.op = policy.Delete
	case programs.Meta, programs.MetaTree:
		a.op = policy.Metadata
	default:
		a.kind = policy.Read
	}
	a.tree = strings.HasSuffix(string(f.Effect), "tree")
	return a
}

// File lists a file.
func (s site) File(f programs.File) (paths []string) {
	if f.Effect == programs.May && !f.Word.Dynamic {
		s.w.maybeWritten(s.c, f.Word.Text)
		return nil
	}
	for _, i := range s.w.file(s.fileAccess(f), f.Word) {
		paths = append(paths, s.w.out.Accesses[i].Path)
	}
	return paths
}

// WorksIn lists a directory that a program works in: inside the root that is
// no more than the program itself.
func (s site) WorksIn(dir word) {
	for _, i := range s.w.file(s.fileAccess(programs.File{Effect: programs.Write, Word: dir}), dir) {
		if a := &s.w.out.Accesses[i]; s.w.writable(a.Path) {
			a.Kind, a.Op = policy.Read, ""
		}
	}
}

// Net lists a host; a second time where it is changed, which a rule for the command
// has to name.
func (s site) Net(n programs.Net) {
	cause := &s.w.out.Accesses[s.c.index]
	a := policy.Access{
		Kind: policy.Net, Parent: s.c.index + 1,
		Opaque: n.Opaque, Scheme: n.Scheme, Host: n.Host, Port: n.Port,
	}
	a.URL, a.User = withoutUser(n.URL)
	a.Source, _ = withoutUser(n.Source)
	named := slices.ContainsFunc(s.w.out.Accesses[s.c.index:], func(o policy.Access) bool { // by an option
		return o.Kind == policy.Net && o.Parent == a.Parent && o.Host == a.Host && o.Port == a.Port && a.Host != "" && !o.Publishes
	})
	if named && !n.Publishes {
		return
	}
	argv, dynamic, program := cause.Argv, cause.Dynamic, cause.Program
	if n.Configured {
		a.Argv, a.Dynamic, a.Program = argv, dynamic, program
	}
	if !named {
		s.w.emit(a)
	}
	if n.Publishes {
		a.Publishes, a.Opaque = true, ""
		a.Argv, a.Dynamic, a.Program = argv, dynamic, program
		s.w.emit(a)
	}
}

// withoutUser takes the user, with the password, out of an address. Of one that nobody
// can parse only the scheme stays.
func withoutUser(address string) (shown string, user bool) {
	scheme, rest, ok := strings.Cut(address, "://")
	if !ok || !strings.Contains(rest, "@") {
		return address, false
	}
	end := len(rest)
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		end = i
	}
	at := strings.LastIndexByte(rest[:end], '@')
	if _, err := url.Parse(address); err != nil {
		return scheme + "://", true
	}
	return scheme + "://" + rest[at+1:], at >= 0
}

// Run judges the program that the call starts.
func (s site) Run(words []word, quiet bool) {
	s.c.Quiet = quiet
	s.w.inner(s.c, words)
}

// Prints notes which names the call prints.
func (s site) Prints(files []string) {
	s.w.lists = listing{s.c.index, files}
}

// Judge looks for dangers in a call that is not followed.
func (s site) Judge(words []word) {
	d := *s.c
	d.Words, d.Name = words, path.Base(words[0].Text)
	d.Hazards()
}

func (s site) Text(x word)                         { s.w.shellText(s.c, x) }
func (s site) ReadShell()                          { s.w.shellCommand(s.c) }
func (s site) Opaque(why string)                   { s.c.opaque(s.w, why) }
func (s site) Danger(why string)                   { s.c.danger(s.w, why) }
func (s site) WorkTree(top string)                 { s.w.out.Accesses[s.c.index].Top = top }
func (s site) Drops()                              { s.w.out.Accesses[s.c.index].Drops = true }
func (s site) Whole(why string)                    { s.w.whole(why) }
func (s site) Move(dir word)                       { s.w.move(dir) }
func (s site) Lost(why string)                     { s.w.st.lost = cmpOr(s.w.st.lost, why) }
func (s site) Hush(why string)                     { s.c.hush = cmpOr(s.c.hush, why) }
func (s site) Unsettle(why string)                 { s.w.st.env = worse(s.w.st.env, why) }
func (s site) Changed()                            { s.w.stir() }
func (s site) Dirty() bool                         { return s.w.dirty }
func (s site) Writes(name string) bool             { return s.w.writes(name) }
func (s site) Makes(path string) bool              { return s.w.makes(path) }
func (s site) Root() string                        { return s.w.world.Root }
func (s site) Home() string                        { return s.w.world.Home }
func (s site) HomeVariable() string                { return s.w.home() }
func (s site) Exists(name string) bool             { return s.w.exists(name) }
func (s site) Writable(path string) bool           { return s.w.writable(path) }
func (s site) Stdin() programs.Stream              { return s.w.stdin }
func (s site) Depth() int                          { return s.w.depth }
func (s site) Spend(n int) bool                    { return s.w.spend(n) }
func (s site) Class() programs.Class               { return s.w.out.Accesses[s.c.index].Class }
func (s site) SetClass(class programs.Class)       { s.w.out.Accesses[s.c.index].Class = class }
func (s site) Dirs() (dirs []string, lost string)  { return s.w.st.dirs, s.w.st.lost }
func (s site) Sees() bool                          { return s.w.world.Resolve != nil && s.w.world.ReadFile != nil }
func (s site) IsFetched(path string) bool          { return slices.Contains(s.w.fetched, path) }
func (s site) Link(to, name string, symbolic bool) { s.w.linked(to, name, symbolic) }
func (s site) Relink(from, to string)              { s.w.relink(from, to) }

// TakeStdin gives the input of the call, of which nothing is left.
func (s site) TakeStdin() programs.Stream {
	in := s.w.stdin
	s.w.stdin = stream{}
	return in
}

// Setenv sets a variable for what the call starts.
func (s site) Setenv(name string, val word, unsure bool) {
	v := text(val.Text)
	if val.Dynamic {
		v = value{}
	}
	own := s.c.hush
	s.w.forOne(s.c, name, v, unsure)
	s.c.hush, s.c.hands = own, cmpOr(s.c.hands, s.c.hush)
}

// Fetched notes a file that comes from the network.
func (s site) Fetched(file word) {
	if !file.Dynamic {
		for _, r := range s.w.resolve(file.Text) {
			s.w.fetched = append(s.w.fetched, r.access.Path)
		}
	}
}

// Resolve finds a name in every directory the shell may be in.
func (s site) Resolve(name string) (paths []programs.Path) {
	for _, r := range s.w.resolve(name) {
		paths = append(paths, pathOf(r))
	}
	return paths
}

// ResolveIn finds a name in a directory.
func (s site) ResolveIn(dir, name string) programs.Path {
	return pathOf(s.w.resolveIn(dir, name))
}

func pathOf(r resolved) programs.Path {
	return programs.Path{Path: r.access.Path, Named: r.access.Named, Type: programs.FileType(r.access.File)}
}

// Peek reads a small file of which nothing is shown.
func (s site) Peek(name string) ([]byte, error) {
	if s.w.world.Peek == nil {
		return s.ReadFile(name)
	}
	return s.w.world.Peek(name)
}

// ReadFile reads a small file.
func (s site) ReadFile(name string) ([]byte, error) {
	if s.w.world.ReadFile == nil {
		return nil, errors.ErrUnsupported
	}
	return s.w.world.ReadFile(name)
}

// Getenv gives a variable of the environment.
func (s site) Getenv(name string) (string, bool) {
	if v, ok := s.w.st.find(name); ok && v.known {
		return v.first(), true
	}
	if s.w.world.Getenv == nil {
		return "", false
	}
	return s.w.world.Getenv(name)
}

// Sets reports whether the text so far sets a variable that changes how programs run, for a
// command or for those that follow.
func (s site) Sets(name string) bool {
	_, set := s.w.st.find(name)
	return set || slices.ContainsFunc(s.w.out.Accesses, func(a policy.Access) bool { return a.Kind == policy.Env && a.Name == name })
}

// Guarded reports whether a policy does not let a file of the tree at top be
// read just so.
func (s site) Guarded(top, name string) bool {
	if s.w.world.Guarded != nil {
		return s.w.world.Guarded(top + "/" + name)
	}
	return s.Secret(name)
}

// Secret reports whether files of a name usually hold secrets.
func (s site) Secret(name string) bool {
	if s.w.secrets == nil {
		s.w.secrets = policy.NewSecretNames()
	}
	return s.w.secrets.Match(name)
}

// Dangers gives the dangers of what the call writes.
func (s site) Dangers() (why []string) {
	for _, a := range s.w.out.Accesses[s.c.index:] {
		if a.Kind == policy.Write && a.Danger != "" && a.Parent == s.c.index+1 {
			why = append(why, a.Danger)
		}
	}
	return why
}
