package policy

import (
	"cmp"
	"slices"
	"sync"
)

// merge puts the layers together.
func (p *Policy) merge(s *Sources, specs []*fileSpec) {
	p.mergeSandbox(specs)
	p.mergeSettings(specs)
	for _, spec := range specs {
		p.mergeLimits(spec.limits)
		if spec.trusted {
			p.undo = Undo{cmp.Or(spec.undo.Commands, p.undo.Commands), cmp.Or(spec.undo.MaxBytes, p.undo.MaxBytes), cmp.Or(spec.undo.Keep, p.undo.Keep)}
		}
		p.env.Drop = append(p.env.Drop, spec.drop...)
		if spec.trusted {
			p.env.Pass = append(p.env.Pass, spec.pass...)
		}
		if spec.name != "" {
			p.files = append(p.files, File{spec.name, spec.layer, spec.hash, spec.trusted})
		}
		p.mergeRules(spec)
	}
	p.index()
	p.writes = sync.OnceValue(func() *guardIndex { return newGuardIndex(writeGuards[:], p.home) })
	p.reads = sync.OnceValue(func() *guardIndex { return secretIndex(p.home) })
	p.hard, p.kept = p.hardDirs(s), slices.Clone(s.Kept)
	for _, path := range p.kept {
		p.inKept = append(p.inKept, foldPath(slashed(path)))
	}
	p.state = trimSlash(foldPath(slashed(s.State)))
	p.rulesHash, p.hash = p.sum(s)
}

// mergeSettings fills the table, from the default profile down the layers.
func (p *Policy) mergeSettings(specs []*fileSpec) {
	for c := range cells {
		p.settings[c] = profileSetting(p.within(Workspace), c, p.Holds())
	}
	for _, spec := range specs {
		p.mergeChoices(spec)
	}
}

// mergeSandbox: require wins; off and outer count only from whoever is trusted,
// and make the level 0. The profile container means outer.
func (p *Policy) mergeSandbox(specs []*fileSpec) {
	for _, spec := range specs {
		mode := spec.sandbox
		for _, ch := range spec.chosen {
			if mode != "require" && ch.whole && ch.profile == Container {
				mode = "outer"
			}
		}
		switch {
		case mode == "" || p.sandbox == "require":
		case spec.trusted || mode == "require":
			p.sandbox = mode
		}
	}
	if !p.Confines() {
		p.level = 0
	}
}

// Holds reports whether something holds what commands really do, whatever their
// text says: the sandbox of this machine, or what is around us.
func (p *Policy) Holds() bool { return p.level >= 2 || p.Outer() }

// closes reports whether the sandbox closes what is protected, and does not only put it back.
func (p *Policy) closes() bool { return p.level >= 3 }

// within is the profile that stands for another where something outside confines:
// there are no questions then. The stricter ones stay.
func (p *Policy) within(profile Profile) Profile {
	if p.Outer() && (profile == Workspace || profile == Open) {
		return Container
	}
	if profile == Container && !p.Outer() { // a layer above insists on our own sandbox
		return Workspace
	}
	return profile
}

// mergeChoices applies a file's profile, then its own settings over it.
func (p *Policy) mergeChoices(spec *fileSpec) {
	var own [cells]setting
	var set [cells]bool
	for _, ch := range spec.chosen {
		if !ch.whole {
			continue
		}
		for c := range cells {
			own[c] = profileSetting(p.within(ch.profile), c, p.Holds())
			own[c].file, own[c].line, own[c].layer, set[c] = spec.name, ch.line, spec.layer, true
		}
		p.noShell = p.noShell || ch.profile == ArgvOnly
	}
	for _, ch := range spec.chosen {
		if !ch.whole {
			own[ch.cell] = setting{verdict: ch.verdict, rule: ch.rule, file: spec.name, line: ch.line, layer: spec.layer}
			set[ch.cell] = true
		}
	}
	for c := range cells {
		if set[c] {
			own[c].host = spec.layer == Machine && !spec.trusted
			p.settings[c].put(own[c], !spec.trusted)
		}
	}
}

func (p *Policy) mergeLimits(l Limits) {
	least := func(a, b int) int {
		if a == 0 || b != 0 && b < a {
			return b
		}
		return a
	}
	p.limits = Limits{
		TimeoutMS: least(p.limits.TimeoutMS, l.TimeoutMS), OutputBytes: least(p.limits.OutputBytes, l.OutputBytes),
		Processes: least(p.limits.Processes, l.Processes), FileBytes: least(p.limits.FileBytes, l.FileBytes), MemoryBytes: least(p.limits.MemoryBytes, l.MemoryBytes),
		TotalBytes: least(p.limits.TotalBytes, l.TotalBytes),
	}
}

// mergeRules compiles a file's rules. What an untrusted file allows sleeps.
func (p *Policy) mergeRules(spec *fileSpec) {
	for _, s := range spec.rules {
		r, err := p.compile(s)
		if err != nil {
			continue // checked when the file was read
		}
		if s.list == Allow && !spec.trusted {
			p.asleep = append(p.asleep, r)
			continue
		}
		p.all = append(p.all, r)
	}
}

// index sorts the rules, deny first and higher layers first, into the lists
// that Decide walks.
func (p *Policy) index() {
	sorted := slices.Clone(p.all)
	slices.SortStableFunc(sorted, func(a, b *rule) int {
		return cmp.Or(cmp.Compare(a.list, b.list), cmp.Compare(a.layer, b.layer))
	})
	ix := &p.rules
	ix.programs = make(map[string][]*rule, len(sorted))
	for _, r := range sorted {
		switch r.tool {
		case commandTool:
			ix.addCommand(r)
		case "read":
			ix.read = append(ix.read, r)
		case "edit":
			ix.write = append(ix.write, r)
		case "fetch", "websearch", "net":
			ix.net = append(ix.net, r)
		default:
			ix.addAny(r)
		}
	}
}

// addCommand files a bash rule. A bare one is about whatever commands do.
func (ix *ruleIndex) addCommand(r *rule) {
	switch name := r.indexName(); {
	case r.bare:
		ix.addAny(r)
	case r.class == classSandboxed:
		ix.anyProg = append(ix.anyProg, r)
		ix.env = append(ix.env, r)
	case r.assignment():
		ix.env = append(ix.env, r)
	case name == "":
		ix.anyProg = append(ix.anyProg, r)
	default:
		ix.programs[name] = append(ix.programs[name], r)
		if alias := programName(r.alias); alias != "" && alias != name {
			ix.programs[alias] = append(ix.programs[alias], r)
		}
		if r.same != nil {
			if usual := programName(r.same.words[0].text); usual != name {
				ix.programs[usual] = append(ix.programs[usual], r)
			}
		}
	}
}

func (ix *ruleIndex) addAny(r *rule) {
	ix.anyProg = append(ix.anyProg, r)
	ix.read = append(ix.read, r)
	ix.write = append(ix.write, r)
	ix.net = append(ix.net, r)
	ix.env = append(ix.env, r)
	ix.tool = append(ix.tool, r)
}

// hardDirs returns the directories that hold policies and state, folded.
func (p *Policy) hardDirs(s *Sources) (dirs []string) {
	add := func(dir string) {
		if dir = trimSlash(foldPath(slashed(dir))); dir != "" && !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	add(s.State)
	add(s.Machine)
	add(s.User)
	add(s.Own)
	for _, name := range s.Files {
		add(name)
	}
	if s.Trust != nil {
		add(s.Trust.Path)
	}
	return dirs
}
