package rg

import "slices"

import "strings"

func (k *walkWorker) openDir(up *dirNode, name string) (*dirNode, bool) {
	w := k.w
	skip := func(reason string) (*dirNode, bool) {
		w.skips.add(up.root.shown(up.path, []byte(name)), reason)
		return nil, false
	}
	handle, err := up.handle.openDir(&k.name, name, w.opt.Follow)
	if err != nil {
		return skip(errorReason(err))
	}
	d := &dirNode{handle: handle, path: up.path + name + "/", rules: up.rules, root: up.root}
	d.open.Store(1)
	if !w.opt.OneFileSystem && !w.opt.Follow {
		return d, true
	}
	d.id, err = handle.stat()
	switch {
	case err != nil:
		d.release()
		return skip(errorReason(err))
	case w.opt.OneFileSystem && d.id.dev != up.root.dev:
		d.release()
		return skip(ReasonOtherFileSystem)
	case w.opt.Follow:
		d.up = up
		for at := up; at != nil; at = at.up {
			if at.id.same(d.id) {
				d.release()
				return skip(ReasonLoop)
			}
		}
	}
	return d, true
}

// listDir reads the directory and makes tasks of what is in it.
func (k *walkWorker) listDir(d *dirNode) {
	w := k.w
	defer d.release()
	k.list.reset()
	if err := d.handle.list(&k.list); err != nil {
		w.skips.add(strings.TrimSuffix(d.root.shown(d.path, nil), "/"), errorReason(err))
	}
	if max := int64(w.opt.MaxEntries); w.entries.Add(int64(len(k.list.entries))) > max && max > 0 {
		w.limited.Store(true)
		w.stop.Store(true)
		return
	}
	k.seen += len(k.list.entries)
	if !w.opt.NoIgnore {
		k.readLevel(d)
	}
	var tasks []task
	files := batch{dir: d}
	count := 0
	flush := func() {
		if count > 0 {
			d.open.Add(1)
			tasks = append(tasks, task{batch: files})
			files, count = batch{dir: d}, 0
		}
	}
	for _, e := range k.list.entries {
		name := k.list.name(e)
		kind := k.resolve(d, name, e.kind)
		switch {
		case kind != kindDir && kind != kindFile:
			continue
		case !w.filter.admits(d, name, kind == kindDir):
			continue
		case w.opt.Skip != nil && w.opt.Skip(d.root.absolute(d.path, name), kind == kindDir):
			w.skips.add(d.root.shown(d.path, name), ReasonPolicy)
		case kind == kindDir:
			if w.opt.depth <= 0 || strings.Count(d.path, "/")+1 < w.opt.depth {
				d.open.Add(1)
				tasks = append(tasks, task{dir: d, name: string(name)})
			}
			if w.opt.Dirs && w.lists(d, name, true) {
				files.add(append(slices.Clip(name), '/'))
				count++
			}
		case w.lists(d, name, false):
			files.add(name)
			count++
		}
		if count == batchFiles {
			flush()
		}
	}
	flush()
	k.put(tasks)
}

func (w *walker) lists(d *dirNode, name []byte, isDir bool) bool {
	return w.opt.match == nil || w.opt.match(d.root.show+d.path, name, isDir)
}

// resolve gives the kind of an entry, that of its target for a link that is
// followed.
func (k *walkWorker) resolve(d *dirNode, name []byte, kind entryKind) entryKind {
	if kind == kindUnknown {
		st, err := d.handle.statName(&k.name, string(name), false)
		if err != nil {
			return kindOther
		}
		kind = st.kind
	}
	if kind != kindLink {
		return kind
	}
	if !k.w.opt.Follow {
		if k.w.opt.Links {
			return kindFile
		}
		return kindLink
	}
	st, err := d.handle.statName(&k.name, string(name), true)
	if err != nil {
		k.w.skips.add(d.root.shown(d.path, name), errorReason(err))
		return kindOther
	}
	return st.kind
}

// readLevel adds the ignore rules that the directory holds.
func (k *walkWorker) readLevel(d *dirNode) {
	l := d.rules
	own := func() *level {
		if l == d.rules {
			l = newLevel(d.rules)
		}
		return l
	}
	for _, e := range k.list.entries {
		name := k.list.name(e)
		if name[0] != '.' {
			continue
		}
		if isRepoMark(name) && !l.isRepo(d.rules) {
			own().enterRepo(d.root.absolute(d.path, nil), d.path, "", k.w.opt.GlobalIgnore)
			continue
		}
		kind := ignoreKind(name)
		if kind < 0 || e.kind == kindDir {
			continue
		}
		if set := d.handle.readRules(&k.name, string(name)); set != nil {
			set.place(d.path, "")
			own().sets[kind] = set
		}
	}
	d.rules = l
}

// isRepo says whether l, unless it is only the level above, tops a repository.
func (l *level) isRepo(above *level) bool { return l != above && l.repo }
