package files

import (
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/agentkit-go/agentkit/pkg/change"
	"github.com/agentkit-go/agentkit/pkg/edit"
	"github.com/agentkit-go/agentkit/pkg/param"
	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/syntax"
	"github.com/agentkit-go/agentkit/pkg/text"
	"github.com/agentkit-go/agentkit/pkg/tool"
	"github.com/agentkit-go/agentkit/pkg/workspace"
)

//go:embed patch.md
var patchDoc string

// Patch changes several files.
var Patch = tool.Tool{
	Name:    "patch",
	Summary: "change several files by a patch, all or none",
	Doc:     &patchDoc,
	New:     func() tool.Call { return &patchCall{Strip: -1} },

	Others: []string{"applypatch", "applydiff", "diff", "gitapply"},

	Examples: []string{
		"agentkit patch fix.diff",
		"git diff | agentkit patch -",
		"agentkit patch fix.diff --dry-run",
	},

	Metadata: (*patchMeta)(nil),
	Details:  []tool.Details{placesDetails{}, gateDetails{}},
}

type patchCall struct {
	Patch  string
	Base64 string
	Strip  int
	Gate   bool
	DryRun bool

	afterwards

	at    string // directory that its paths count from; "" for the root
	from  string // the file that holds the patch, where its name was given
	patch *edit.Patch
	paths map[string]workspace.Path // by the path in the patch
	shown map[string]string         // versions of the files that whoever approves the patch was shown, likewise; nil where nobody was
}

// NewPatch is a call of patch whose paths count from the directory dir.
func NewPatch(dir, text string) (*tool.Invocation, error) {
	call := &patchCall{Strip: -1, at: dir}
	in := &tool.Invocation{Tool: &Patch, Call: call, Set: param.Of(call)}
	return in, in.Set.Lookup("patch").Set(text)
}

// Params implements tool.Call.
func (p *patchCall) Params(s *param.Set) {
	s.String(&p.Patch, "patch", "the patch, or the name of a file that holds it").Arg().FromStdin().Alias("patchText", "patch_text", "diff", "input")
	s.String(&p.Base64, "patch_base64", "the patch in base64 instead").Rare()
	s.Int(&p.Strip, "strip", "directories to take off paths, as -p of patch; -1 and 0 take off git's a/ and b/ alone").Between(-1, 100).Letter("p").Rare()
	s.Bool(&p.Gate, "gate", "refuse what brings new syntax errors").Rare()
	p.params(s)
	s.Bool(&p.DryRun, "dry_run", "only show the difference").Alias("dryRun").Rare()
}

// Needs implements tool.Call: every file of the patch is written, under its
// old name and its new one. One that is copied or renamed is read, too.
func (p *patchCall) Needs(ctx context.Context, env *tool.Env) ([]policy.Access, error) {
	if err := p.decode(); err != nil {
		return nil, err
	}
	needs, err := p.fromFile(env)
	if err != nil {
		return nil, err
	}
	parsed, err := edit.ParsePatch(p.Patch)
	if err != nil {
		if r, ok := errors.AsType[*edit.Refusal](err); ok && p.from != "" && r.Path == "" {
			r.Message = p.from + ": " + r.Message
		}
		return nil, patchRefusal(err)
	}
	if parsed.Strip = p.Strip; len(parsed.Paths()) == 0 {
		return nil, tool.Errorf(tool.BadInput, "the patch names no files").WithHint("send *** Begin Patch … *** End Patch, or a unified diff")
	}
	p.patch, p.paths = parsed, map[string]workspace.Path{}
	names := map[string]string{} // by the file that they lead to
	taken, sources := parsed.Taken(), parsed.Sources()
	for _, name := range parsed.Paths() {
		path, need, err := p.target(env, name, taken)
		if err != nil {
			return nil, err
		}
		if other := names[path.Real]; other != "" {
			return nil, tool.Errorf(tool.BadInput, "%s and %s are one file", other, name).WithHint("name the file itself, not a link to it, in all of the patch")
		}
		p.paths[name], names[path.Real] = path, name
		needs = append(needs, need)
		if slices.Contains(sources, name) && !isLinkEntry(path) {
			needs = append(needs, path.Read("patch")) // under its new name it may be easier to read
		}
	}
	return policy.Append(needs, p.needs(ctx, env, slices.SortedFunc(maps.Values(p.paths), func(a, b workspace.Path) int { return strings.Compare(a.Real, b.Real) }))...), nil
}

// target resolves the path of a file of a patch. Where it is removed or renamed,
// that is of a link itself, not of what it leads to.
func (p *patchCall) target(env *tool.Env, name string, taken []string) (workspace.Path, policy.Access, error) {
	if slices.Contains(taken, name) {
		entry, err := env.Workspace.ResolveEntry(p.full(name))
		if err != nil || isLinkEntry(entry) {
			return entry, entry.Write("patch", policy.Delete), err
		}
	} else if path, ok := p.inPlace(env, name, taken); ok {
		return path, path.Write("patch", policy.Create), nil
	}
	return resolveTarget(env, "patch", p.full(name))
}

// inPlace resolves a path of a patch that takes away what is in its way: a file that
// is to be a directory, or the files of a directory that is to be a file.
func (p *patchCall) inPlace(env *tool.Env, name string, taken []string) (path workspace.Path, ok bool) {
	for _, other := range taken {
		if rest, beneath := strings.CutPrefix(name, other+"/"); beneath {
			file, err := env.Workspace.ResolveEntry(p.full(other))
			if err == nil && file.Exists && file.Type != policy.Dir {
				return file.Beneath(rest), true
			}
		}
		if strings.HasPrefix(other, name+"/") {
			dir, err := env.Workspace.ResolveEntry(p.full(name))
			if err == nil && dir.Type == policy.Dir {
				return dir, true
			}
		}
	}
	return path, false
}

// full is a path of the patch as the workspace takes it.
func (p *patchCall) full(name string) string {
	if p.at != "" && !filepath.IsAbs(name) {
		return filepath.Join(p.at, name)
	}
	return name
}

// decode takes the patch from the parameter that it came in.
func (p *patchCall) decode() error {
	switch {
	case p.Patch != "" && p.Base64 != "":
		return tool.Errorf(tool.BadInput, "both patch and patch_base64 are given").WithHint("give one of them")
	case p.Patch == "" && p.Base64 == "":
		return tool.Errorf(tool.BadInput, "patch is required: the text of the patch").WithHint("send *** Begin Patch … *** End Patch, or a unified diff")
	case p.Base64 == "":
		return nil
	}
	data, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(p.Base64), ""))
	if err != nil {
		return tool.Errorf(tool.BadInput, "patch_base64: %w", err).WithHint("encode the bytes of the patch as base64 does, with its padding")
	}
	p.Patch = string(data)
	return nil
}

// fromFile puts the content of a file in the place of its name, where the patch is
// one. It is read before the call is decided, so only where nobody has to be asked.
func (p *patchCall) fromFile(env *tool.Env) ([]policy.Access, error) {
	name := strings.TrimSpace(p.Patch)
	if p.Base64 != "" || name == "" || strings.ContainsAny(name, "\n*") {
		return nil, nil
	}
	file, err := env.Workspace.Resolve(name)
	switch {
	case err == nil && !file.Exists && strings.ContainsAny(name, "./") && !strings.ContainsAny(name, " \t\"`{}<>@\\"):
		return nil, env.Missing(file, "give the text of the patch, or the name of a file that holds it")
	case err != nil || file.Type != policy.Regular:
		return nil, nil // then it is no file, but a patch that does not parse
	}
	need := file.Read("patch")
	if err := env.May(need); err != nil {
		return nil, tool.AsError(err).WithHint("send the text of the patch instead of the name of a file")
	}
	data, err := env.Workspace.ReadFile(file, maxFile)
	if err != nil {
		return nil, err
	}
	p.Patch, p.from = string(data), tool.Shown(file)
	return []policy.Access{need}, nil
}

// patchRefusal makes a tool's error of what the engine says of a patch.
func patchRefusal(err error) error {
	r, ok := errors.AsType[*edit.Refusal](err)
	if !ok {
		return err
	}
	message := r.Message
	if r.Path != "" && !named(message, r.Path) {
		message = r.Path + ": " + message
	}
	e := tool.Errorf(tool.Code(r.Code), "%s", message).Next(r.Hint)
	for _, place := range r.Places {
		_ = e.Suggest(fmt.Sprintf("lines %d-%d", place.Lines[0], place.Lines[1]))
	}
	return e.With(placesDetails{Hunk: &r.Edit, Path: r.Path, Places: places(r.Places)}).Show(placesText(r.Places))
}

// named reports whether a message says which file it is about: as the name alone, not
// as a part of a word.
func named(message, path string) bool {
	return strings.HasPrefix(message, path+" ") || strings.Contains(message, " "+path+" ")
}

// refusal makes a tool's error of why the patch does not fit. For a file that is not
// there it names those that may have been meant.
func (p *patchCall) refusal(env *tool.Env, err error) error {
	if r, ok := errors.AsType[*edit.Refusal](err); ok && r.Code == edit.NotFound {
		if path, known := p.paths[r.Path]; known {
			return env.Missing(path, r.Hint+p.elsewhere(env, r.Path))
		}
	}
	return patchRefusal(err)
}

// elsewhere advises another strip where that leads to a file that is there, as for a diff
// that was made above the root.
func (p *patchCall) elsewhere(env *tool.Env, name string) (hint string) {
	for _, end, more := strings.Cut(name, "/"); more && p.Strip <= 0; _, end, more = strings.Cut(end, "/") {
		if file, err := env.Workspace.Resolve(p.full(end)); err == nil && file.Type == policy.Regular {
			if n, ok := p.patch.StripTo(name, end); ok {
				hint = "; with {.strip} " + strconv.Itoa(n) + " it would be " + end + ", which is there"
			}
			break
		}
	}
	return hint
}

// Describe implements tool.Describer. A yes is for the files as they were shown.
func (p *patchCall) Describe(ctx context.Context, env *tool.Env) map[string]any {
	dry := *p
	dry.DryRun = true
	return foreseen(ctx, env, slices.Collect(maps.Values(p.paths)), func(ctx context.Context, env *tool.Env) (*tool.Result, error) {
		p.shown = map[string]string{}
		return dry.making(ctx, env, func(files *patchFiles) error {
			for name, data := range files.raw {
				p.shown[name] = workspace.Version(data)
			}
			return nil
		})
	})
}

// Shown implements tool.Shower.
func (p *patchCall) Shown() map[string]string {
	shown := map[string]string{}
	for name, version := range p.shown {
		shown[p.paths[name].Real] = version
	}
	return shown
}

// unchanged is the error where a file is not what whoever approved the patch was shown, as
// after a job has put something else in its place.
func (p *patchCall) unchanged(env *tool.Env, files *patchFiles) error {
	for _, name := range slices.Sorted(maps.Keys(files.raw)) {
		now := workspace.Version(files.raw[name])
		if seen := env.Seen[p.paths[name].Real]; p.shown != nil && p.shown[name] != now || seen != "" && seen != now {
			return tool.Errorf(tool.Conflict, "%s has changed since the patch was approved", tool.Shown(p.paths[name])).
				WithHint("look what happened to it, and ask again")
		}
	}
	return nil
}

// Run implements tool.Call.
func (p *patchCall) Run(ctx context.Context, env *tool.Env) (*tool.Result, error) {
	r, err := again(ctx, env, p.run)
	if err == nil && p.Diagnose && !p.DryRun {
		p.tell(ctx, env, "patch", r)
	}
	return r, err
}

func (p *patchCall) run(ctx context.Context, env *tool.Env) (*tool.Result, error) {
	return p.making(ctx, env, func(files *patchFiles) error { return p.unchanged(env, files) })
}

// making makes the patch, once look has seen the files that it was read for.
func (p *patchCall) making(ctx context.Context, env *tool.Env, look func(*patchFiles) error) (*tool.Result, error) {
	var all []workspace.Path
	for _, path := range p.paths {
		all = append(all, path)
	}
	lock, err := env.History.Lock(ctx, all...)
	if err != nil {
		return nil, err
	}
	defer lock.Unlock()
	files := &patchFiles{env: env, paths: p.paths, bytewise: !utf8.ValidString(p.Patch), raw: map[string][]byte{}, encodings: map[string]text.Encoding{}}
	made, err := p.patch.Apply(files.read)
	if bad := look(files); bad != nil {
		return nil, bad
	}
	if err != nil {
		return nil, files.hush(p.refusal(env, err))
	}
	meta := &patchMeta{Files: []patchFile{}, Warnings: []string{}, DryRun: p.DryRun, Total: len(made.Files), room: roomForDiff(env)}
	meta.warn(made.Warnings)
	set := change.Set{Tool: "patch", Title: fmt.Sprintf("patch of %s", tool.Count(int64(len(made.Files)), "file")), Lock: lock}
	broken := map[string][]syntax.Problem{}
	for _, f := range made.Files {
		if f.Action == edit.Move && isLinkEntry(p.paths[f.From]) && !bytes.Equal(f.Before, f.After) {
			return nil, tool.Errorf(tool.BadInput, "%s is a link: it can be moved or deleted, but not changed", tool.Shown(p.paths[f.From])).
				WithHint("patch the file that it leads to, and move the link in another patch")
		}
		data, err := files.bytes(f)
		if err != nil {
			return nil, err
		}
		hash := change.Hash(data)
		one := meta.file(ctx, p.paths, f, hash, files.closed(f))
		broken[one.Path] = one.SyntaxErrors
		if len(meta.Files) < mostToldFiles {
			meta.Files = append(meta.Files, one)
		}
		set.Changes = append(set.Changes, p.change(f, files.raw[cmp.Or(f.From, f.Path)], data, hash))
	}
	if p.Gate {
		if err := gateError(broken); err != nil {
			return nil, err
		}
	}
	if !p.DryRun {
		record, err := env.Commit(ctx, set)
		if err != nil {
			return nil, commitError(err)
		}
		meta.Change = record.ID
	}
	meta.Diff += moreDiff(meta.omitted)
	out := meta.output()
	title := "Patched " + tool.Count(int64(meta.Total), "file")
	if p.DryRun {
		title = "Would patch " + tool.Count(int64(meta.Total), "file")
	}
	return &tool.Result{Title: title, Output: title + "\n" + out, Metadata: meta, Pretty: inColour(title+"\n"+out, meta.Diff)}, nil
}

// patchFiles are the files that a patch is about, as they are on the disk.
type patchFiles struct {
	env       *tool.Env
	paths     map[string]workspace.Path
	bytewise  bool                     // the patch quotes the bytes of files that are not in UTF-8, as diff writes them
	raw       map[string][]byte        // their bytes
	encodings map[string]text.Encoding // of those that the patch gets in UTF-8
}

// read gives the patch a file. One in an encoding other than UTF-8 is
// converted, unless the patch quotes its bytes; one that cannot be, or is no text,
// stays bytes.
func (p *patchFiles) read(name string) ([]byte, edit.Meta, error) {
	if path := p.paths[name]; isLinkEntry(path) {
		// As git has it, the content of a link is where it leads.
		dir, err := p.env.Workspace.Resolve(filepath.Dir(path.Real))
		if err != nil {
			return nil, edit.Meta{}, err
		}
		target, err := p.env.Workspace.Readlink(dir, filepath.Base(path.Real))
		p.raw[name] = []byte(target)
		return []byte(target), edit.Meta{Mode: fs.ModePerm}, err
	}
	if path := p.paths[name]; path.Later() || path.Type == policy.Dir {
		return nil, edit.Meta{}, fs.ErrNotExist // not before the patch has made room for it
	}
	data, err := p.env.Workspace.ReadFile(p.paths[name], maxFile)
	if err != nil {
		return nil, edit.Meta{}, err
	}
	meta := edit.Meta{}
	if info := p.paths[name].Info; info != nil {
		meta.Mode = info.Mode().Perm()
	}
	if p.raw[name] = data; data == nil {
		p.raw[name] = []byte{}
	}
	enc := text.Detect(data, true)
	if enc.Name == "binary" || strings.HasPrefix(enc.Name, "utf-8") || p.bytewise && enc.ASCII() {
		return data, meta, nil
	}
	content, exact := enc.Decode(data)
	if !exact {
		return data, meta, nil
	}
	p.encodings[name] = enc
	return content, meta, nil
}

// closed is why what a file of the patch holds is not to be shown; "" where it
// may be read.
func (p *patchFiles) closed(f edit.FileChange) string {
	if f.Before == nil {
		return ""
	}
	return unreadable(p.env, "patch", p.paths[cmp.Or(f.From, f.Path)])
}

// hush is a refusal without what it tells of the content of a file that may not
// be read.
func (p *patchFiles) hush(err error) error {
	for _, name := range slices.Sorted(maps.Keys(p.raw)) { // those that were read until then
		path := p.paths[name]
		why := unreadable(p.env, "patch", path)
		if why == "" {
			continue
		}
		return tool.Errorf(tool.AsError(err).Code, "the patch does not fit").
			WithHint("what %s holds is not shown, for %s; make the patch for the other files alone to see what is wrong with them, or ask for the file with read", tool.Shown(path), why)
	}
	return err
}

// isLinkEntry reports whether the path is of a link itself.
func isLinkEntry(p workspace.Path) bool { return p.Exists && p.Type == "" }

// bytes is what a file is to hold after the patch.
func (p *patchFiles) bytes(f edit.FileChange) ([]byte, error) {
	from := cmp.Or(f.From, f.Path)
	enc, converted := p.encodings[from]
	switch {
	case f.Action == edit.Delete:
		return nil, nil
	case !converted:
		return f.After, nil
	case bytes.Equal(f.After, f.Before):
		return p.raw[from], nil
	}
	return encodeFile(p.paths[f.Path], enc, f.After)
}

// change is what the history is to do for one file, whose bytes are known
// before and after.
func (p *patchCall) change(f edit.FileChange, before, after []byte, hash string) change.Change {
	c := change.Change{Op: change.Replace, Path: p.paths[f.Path], Data: after, Hash: hash}
	from, link := p.paths[f.From], isLinkEntry(p.paths[f.Path])
	if f.Action == edit.Move && isLinkEntry(from) {
		return change.Change{Op: change.Move, Path: from, To: p.paths[f.Path]}
	}
	if f.Before != nil && !link {
		c.Was = before
	}
	if f.Mode != 0 {
		mode := f.Mode & fs.ModePerm
		c.Mode = &mode
	}
	switch f.Action {
	case edit.Add:
		c.Op, c.Was = change.Create, nil
		if f.Before != nil || p.paths[f.Path].Exists && p.paths[f.Path].Type != policy.Dir {
			c.Op = change.Write
		}
	case edit.Delete:
		c.Op, c.Data, c.Hash, c.Mode = change.Delete, nil, "", nil
	case edit.Move:
		c.Op, c.Path, c.To = change.Move, from, p.paths[f.Path]
	}
	return c
}
