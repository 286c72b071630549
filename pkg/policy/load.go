package policy

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/agentkit-go/agentkit/pkg/safefile"
)

// Sources says where a policy comes from, and the facts about the place that
// it is about. Directories are absolute and resolved.
type Sources struct {
	Machine string   // directory of the administrator's policy.*; "" for none
	Caller  string   // directory of the policy.* of the machine that calls come from, where that is another one: what Machine allows does not count then; "" for none
	User    string   // directory of the user's policy.*; "" for none
	Project string   // directory of the repository's policy.*, usually ROOT/.agentkit; "" for none
	Files   []string // --policy: these instead of the user's and the project's

	Own    string            // where calls come from another place: the directory of the configuration here, which decides nothing and is protected
	Called map[string]string // what files of a caller's are called where they come from, by their names here

	Settings []string // the configuration's files, whether they are there or not, and programs that decide or are run for every later call
	Kept     []string // all files and directories from which a later call takes rules or settings, with what links lead to: see Keep

	Allow   []string // --allow: rules for this call alone
	Profile string   // --profile; "" for what the files say
	Sandbox string   // --sandbox: auto, require, off or outer; "" for what the files say

	Root      string
	Home      string   // "" when there is none
	State     string   // the session state; never written by a call
	Temp      []string // temporary directories
	Trusted   []string // directories of trusted programs; nil for TrustedDirs()
	Installed []string // directories outside the root that belong to programs, or to the repository that the root is a part of
	Readable  []string // directories outside the root that may be read, such as the session's spill
	Level     int      // the sandbox level this machine reaches, 0 to 3

	Tools []string    // names of the caller's tools, for rules about them
	Trust *TrustStore // says whether the project's file is trusted; nil: it is not

	// Analyze finds the accesses of a call, for the tests that stand in the
	// files. It is needed only where a file has tests.
	Analyze func(tool string, args json.RawMessage) ([]Access, error) `json:"-"`

	// Committed returns those of the files in the root, by their absolute paths,
	// that git's HEAD holds with their content, where every command may read it:
	// their names then make them no secrets. It is asked about nothing else; nil
	// for none.
	Committed func(paths []string) map[string]bool `json:"-"`

	// Moved reports whether what is at a path was a secret under another name, before
	// it was moved to where names make no secrets; nil for none.
	Moved func(path string) bool `json:"-"`

	// Wrote is told that a person has changed a file of a policy, by its path without links; nil for nobody.
	Wrote func(path string, was, now []byte) `json:"-"`

	// Tested says that the tests in the files have passed already, as when
	// another process loads what this one has.
	Tested bool
}

// TrustedDirs returns the directories in which a program goes by its bare
// name in allow rules, on a usual system. Links from the first of them lead
// to the others. A caller appends those of its toolchains.
func TrustedDirs() []string {
	return []string{
		"/bin", "/usr/bin", "/sbin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin", "/opt/homebrew/bin",
		"/usr/lib", "/usr/libexec", "/usr/share", "/usr/local/lib", "/usr/local/share", "/usr/local/Cellar", "/opt/homebrew/Cellar",
		"/opt/homebrew/lib", "/usr/local/go/bin", "/nix/store", "C:/Windows/System32", "C:/Program Files",
	}
}

// A File is a policy file that took part.
type File struct {
	Path    string
	Layer   Layer
	SHA256  string // hex
	Trusted bool   // false: a project's file that only tightens
}

// An Environment says which variables a command inherits.
type Environment struct {
	Pass []string // names that are handed down though they look secret; may hold *
	Drop []string // names that are never handed down; may hold *
}

// Drops reports whether a variable must not be handed down.
func (e *Environment) Drops(name string) bool { return matchAny(e.Drop, name) }

// Passes reports whether a variable is handed down whatever it looks like.
func (e *Environment) Passes(name string) bool { return !e.Drops(name) && matchAny(e.Pass, name) }

func matchAny(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return matchOne(strings.Split(p, "*"), name) })
}

// A world is the place that a policy is about.
type world struct {
	root    string
	home    string
	temp    []string
	trusted []string
	spill   []string // folded
	tools   []string

	enclosing string   // see Policy.Enclosing
	installed []string // directories that commands read as they read the system's

	committed func(paths []string) map[string]bool // see Sources
	moved     func(path string) bool               // the same
}

func newWorld(s *Sources) world {
	clean := func(dirs []string) (out []string) {
		for _, d := range dirs {
			if d = trimSlash(slashed(d)); d != "" {
				out = append(out, d)
			}
		}
		return out
	}
	root := trimSlash(slashed(s.Root))
	if root == "" && s.Root != "" {
		root = "/" // of the file system, as in a container
	}
	w := world{root: root, home: trimSlash(slashed(s.Home)), temp: clean(s.Temp), tools: s.Tools, committed: s.Committed, moved: s.Moved}
	if w.trusted = clean(s.Trusted); s.Trusted == nil {
		w.trusted = TrustedDirs()
	}
	w.installed = w.newInstalled(clean(s.Installed))
	for _, dir := range clean(s.Readable) {
		w.spill = append(w.spill, foldPath(dir))
	}
	return w
}

func (w *world) knowsTool(name string) bool {
	return slices.Contains(ruleTools(), name) || slices.Contains(w.tools, name)
}

func (w *world) toolNames() []string { return append(ruleTools(), w.tools...) }

// Load reads every source and merges them. Whatever is wrong anywhere refuses
// the whole policy: the error is of type Problems, and the nil Policy that
// comes with it denies every access.
func Load(s *Sources) (*Policy, error) {
	if s.Root == "" {
		return nil, Problems{{What: "the policy needs a root"}}
	}
	p := &Policy{world: newWorld(s), level: min(max(s.Level, 0), 3), sandbox: "auto"}
	specs, problems := p.specs(s)
	if len(problems) > 0 {
		return nil, problems
	}
	p.merge(s, specs)
	if problems := runTests(s, specs); len(problems) > 0 {
		return nil, problems
	}
	return p, nil
}

// specs reads the files and the command line, in the order of the layers.
func (p *Policy) specs(s *Sources) (specs []*fileSpec, problems Problems) {
	add := func(name string, layer Layer) {
		spec, ps := p.loadFile(name, cmp.Or(s.Called[name], name), layer, s.Trust)
		if problems = append(problems, ps...); spec != nil {
			specs = append(specs, spec)
		}
	}
	dirs := []struct {
		dir   string
		layer Layer
	}{{s.Machine, Machine}, {s.User, User}, {s.Project, Project}}
	if s.Caller != "" {
		dirs[0].dir = s.Caller
	}
	for _, d := range dirs {
		if d.dir == "" || len(s.Files) > 0 && d.layer != Machine {
			continue
		}
		name, problem := findFile(d.dir)
		if problem != nil {
			problems = append(problems, problem)
		} else if name != "" {
			add(name, d.layer)
		}
	}
	for _, name := range s.Files {
		add(name, CommandLine)
	}
	line := &fileSpec{layer: CommandLine, trusted: true}
	problems = append(problems, p.commandLine(line, s)...)
	specs = append(specs, line)
	if s.Caller != "" && s.Machine != "" { // last, so that what it tightens stays so
		name, problem := findFile(s.Machine)
		if problem != nil {
			problems = append(problems, problem)
		} else if name != "" {
			add(name, Machine)
			if last := specs[len(specs)-1]; last != line {
				last.trusted = false
			}
		}
	}
	return specs, problems
}

// commandLine reads the flags as a file without a name.
func (p *Policy) commandLine(spec *fileSpec, s *Sources) Problems {
	r := reader{fileSpec: spec, w: &p.world}
	for _, text := range s.Allow {
		if strings.TrimSpace(text) == "" {
			r.problem(0, "--allow is empty: want TOOL or TOOL(PATTERN)")
			continue
		}
		r.add(ruleSpec{list: Allow, text: text, layer: CommandLine, grant: true})
	}
	if s.Profile != "" {
		r.profile(&node{kind: stringNode, text: s.Profile})
	}
	if s.Sandbox != "" {
		r.sandboxMode(&node{kind: stringNode, text: s.Sandbox})
	}
	return r.problems
}

// FileNames are the names that a policy file may have in its directory.
func FileNames() []string { return []string{"policy.yaml", "policy.yml", "policy.toml", "policy.json"} }

// findFile returns the policy file of a directory; "" when it has none.
func findFile(dir string) (string, *Problem) {
	found := ""
	for _, name := range FileNames() {
		path := filepath.Join(dir, name)
		switch _, err := os.Lstat(path); {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil && isNotDir(dir):
			return "", nil
		case err != nil:
			return "", &Problem{File: path, What: err.Error()}
		case found != "":
			return "", &Problem{File: path, What: "there is a " + filepath.Base(found) + " beside it; keep one"}
		default:
			found = path
		}
	}
	return found, nil
}

func isNotDir(dir string) bool {
	info, err := os.Stat(dir)
	return err == nil && !info.IsDir()
}

// loadFile reads one policy file, which is called something to people. What a project's leads to by a link may be somebody's secret,
// which the repository wants to have shown: then nothing of it is quoted.
func (p *Policy) loadFile(name, called string, layer Layer, trust *TrustStore) (*fileSpec, Problems) {
	spec, problems := p.parseFile(name, called, layer, trust)
	if layer == Project && len(problems) > 0 && linked(name) {
		return nil, Problems{{File: called, What: "it is a link, and what that leads to is no policy; put the file itself there"}}
	}
	return spec, problems
}

// linked reports whether a project's policy file is a link, or its directory is.
func linked(name string) bool {
	dir := filepath.Dir(name)
	root, err := filepath.EvalSymlinks(filepath.Dir(dir))
	real, bad := filepath.EvalSymlinks(name)
	return err == nil && bad == nil && real != filepath.Join(root, filepath.Base(dir), filepath.Base(name))
}

func (p *Policy) parseFile(name, called string, layer Layer, trust *TrustStore) (*fileSpec, Problems) {
	data, problem := readPolicy(name, layer)
	if problem != nil {
		return nil, Problems{problem}
	}
	spec := &fileSpec{name: called, layer: layer, trusted: true, hash: contentHash(data)}
	if layer == Project {
		ok, err := trust.Trusted(name, spec.hash)
		if err != nil {
			return nil, Problems{{File: trust.Path, What: err.Error()}}
		}
		spec.trusted = ok
	}
	n, err := parse(called, data)
	if err != nil {
		problem, _ := errors.AsType[*Problem](err)
		return nil, Problems{problem}
	}
	return spec, p.readFile(spec, n)
}

// contentHash is by what the content of a file is known.
func contentHash(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// readPolicy reads a file without blocking on what is no file.
func readPolicy(name string, layer Layer) ([]byte, *Problem) {
	info, err := os.Stat(name)
	switch {
	case err != nil:
		return nil, &Problem{File: name, What: err.Error()}
	case !info.Mode().IsRegular():
		return nil, &Problem{File: name, What: "not a regular file"}
	case layer <= User && runtime.GOOS != "windows" && info.Mode().Perm()&0o002 != 0:
		return nil, &Problem{File: name, What: "everybody may write this file; run chmod o-w on it"}
	}
	f, err := safefile.FollowRegular(name)
	if err != nil {
		return nil, &Problem{File: name, What: err.Error()}
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, &Problem{File: name, What: err.Error()}
	}
	return data, nil
}

// CheckFile reads one policy file as Load would, with its tests, and returns
// the Problems that it has.
func CheckFile(name string, layer Layer, s *Sources) error {
	p := &Policy{world: newWorld(s)}
	spec, problems := p.loadFile(name, name, layer, nil)
	if len(problems) == 0 {
		problems = runTests(s, []*fileSpec{spec})
	}
	if len(problems) > 0 {
		return problems
	}
	return nil
}

// Level returns the sandbox level that decisions count on: 0 when the policy
// switches the sandbox off.
func (p *Policy) Level() int {
	if p == nil {
		return 0
	}
	return p.level
}

// Sandbox returns auto, require, off or outer.
func (p *Policy) Sandbox() string { return p.sandbox }

// NoShell reports whether commands must be started without a shell: the argv
// profile refuses what only a shell can read.
func (p *Policy) NoShell() bool { return p.noShell }

// Limits returns the least of the limits that the layers set.
func (p *Policy) Limits() Limits { return p.limits }

// Undo returns what is kept of that which commands take away.
func (p *Policy) Undo() Undo {
	u := p.undo
	u.Commands = cmp.Or(u.Commands, UndoDestructive)
	u.MaxBytes = cmp.Or(u.MaxBytes, 1<<30)
	u.Keep = cmp.Or(u.Keep, 7*24*time.Hour)
	return u
}

// Environment returns which variables commands inherit.
func (p *Policy) Environment() *Environment { return &p.env }

// Files returns the files that took part, in the order of the layers.
func (p *Policy) Files() []File { return slices.Clone(p.files) }

// Hash identifies everything that decides: the files' content, the grants,
// the profile, the root and the other facts given to Load. Two policies with
// the same hash decide alike.
func (p *Policy) Hash() string {
	if p == nil {
		return ""
	}
	return p.hash
}

// sum computes the hash of the rules and settings, and that of everything.
// What the caller's environment makes of the place, such as the directories of
// its PATH, belongs to the second only: a person who answers a request from
// another terminal approves of the same rules.
func (p *Policy) sum(s *Sources) (rules, all string) {
	h := sha256.New()
	line := func(parts ...any) { fmt.Fprintf(h, "%q\n", fmt.Sprint(parts...)) }
	lists := func(lists ...[]string) string {
		for _, list := range lists {
			line(len(list))
			for _, text := range list {
				line(text)
			}
		}
		return hex.EncodeToString(h.Sum(nil))
	}
	line("policy ", 1)
	for _, f := range p.files {
		line(f.Path, " ", f.Layer, " ", f.SHA256, " ", f.Trusted)
	}
	p.basis = lists([]string{s.Profile, s.Sandbox}, []string{p.root, p.home, slashed(s.State)}, p.hard, []string{fmt.Sprint(p.level)})
	p.allow = slices.Clone(s.Allow)
	rules = lists(s.Allow)
	return rules, lists(p.temp, p.trusted, p.spill, p.kept)
}

// Basis identifies the rules and settings that decide: a hash of all but the rules that
// the command line and the session add, and these rules.
func (p *Policy) Basis() (hash string, allow []string) {
	if p == nil {
		return "", nil
	}
	return p.basis, slices.Clone(p.allow)
}
