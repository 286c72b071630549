package wall

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/safefile"
)

// What a link leads to has the names that the link gives it, beside its own, and is closed by
// each of them.

// A called is one of the names of what is at a path in the root.
type called struct {
	path, name string
	file       policy.FileType // Missing where nothing is
	way        bool            // a link on the way to what another link leads to
}

// A follower goes behind the links of a wall.
type follower struct {
	w     *Wall
	visit func(n called) (closed bool) // reports whether what lies below is closed, too
	seen  map[string]bool              // what was gone through behind this link
}

// behind visits what a link leads to in the root by the name that this gives it: the links on the way, what is at
// the end, and what lies below as far as it may be closed. A path that is no link leads nowhere.
func (w *Wall) behind(link string, visit func(n called) (closed bool)) {
	(&follower{w, visit, map[string]bool{}}).link(link, link)
}

func (f *follower) link(path, name string) {
	root := f.w.o.Root
	links, real, _ := safefile.Follow(filepath.Dir(path), filepath.Base(path))
	if len(links) == 0 {
		return
	}
	for _, l := range links[1:] {
		if safefile.Below(root, l) && !safefile.InGit(l) {
			f.visit(called{l, name, "", true})
		}
	}
	if real == "" || f.seen[real] || !safefile.Below(root, real) || safefile.InGit(real) || safefile.Below(real, path) { // nor a directory above the link
		return
	}
	f.seen[real] = true
	if real != root {
		f.w.ends = append(f.w.ends, real)
	}
	n := called{path: real, name: name, file: policy.Missing}
	if i, err := os.Lstat(real); err == nil {
		n.file = fileType(i.Mode())
	}
	closed := real != root && f.visit(n)
	if n.file == policy.Dir && (closed || f.w.o.leads(name)) {
		f.below(real, name, closed)
	}
}

// below visits what lies in a directory.
func (f *follower) below(dir, name string, closed bool) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	if f.w.followed += len(entries); f.w.followed > maxEach {
		f.w.Beyond = append(f.w.Beyond, dir+tooMany)
		return
	}
	files := !closed || f.w.o.Policy.Leads(name, policy.Read)
	for _, e := range entries {
		if !files && e.Type().IsRegular() { // its own name counts where it lies
			continue
		}
		n := called{path: filepath.Join(dir, e.Name()), name: filepath.Join(name, e.Name()), file: fileType(e.Type())}
		if n.path == f.w.o.Root+"/.git" {
			continue
		}
		closed := f.visit(n) || closed
		switch leads := closed || f.w.o.leads(n.name); {
		case leads && e.IsDir():
			f.below(n.path, n.name, closed)
		case leads && e.Type()&fs.ModeSymlink != 0:
			f.link(n.path, n.name)
		}
	}
}

// leads reports whether what a link at a path leads to may be closed by the names that the link gives it.
func (o *Options) leads(path string) bool { return o.Policy.Leads(path, policy.Read, policy.Write) }

// close closes something by one of its names, as the policy says of that.
func (w *Wall) close(n called) (closed bool) {
	p, dir := w.o.Policy, n.file == policy.Dir
	if n.file != policy.Missing && !n.way && !p.MayRead(n.name, n.file) {
		placed := w.o.Committed == nil || p.Placed(n.name)
		switch {
		case dir && (p.Mixed(n.name, policy.Read) || !placed): // file by file
		case !placed && w.o.Committed([]string{n.path})[n.path]: // what git's history has is no secret under another name
		case !below(n.path, w.Hidden):
			w.hide(n.path)
			w.led[n.path], w.others[n.path] = n.name, n.name
		}
		closed = true
	}
	if w.keeps(n, n.file) {
		if !below(n.path, w.Fixed) {
			w.Fixed, w.led[n.path] = append(w.Fixed, n.path), n.name
		}
		closed = true
	}
	return closed
}

// keeps reports whether no command may change, or make, something by one of its names. A document that runs nothing, such as the
// AGENTS.md to which a link in .claude leads, is protected by its own name, or by a rule, and not by where a link lies.
func (w *Wall) keeps(n called, t policy.FileType) bool {
	p := w.o.Policy
	if p.MayWrite(n.name, t) || n.file == policy.Dir && p.Mixed(n.name, policy.Write) {
		return false
	}
	return !slices.Contains([]string{".md", ".mdc", ".markdown"}, filepath.Ext(n.path)) || n.file == policy.Dir || p.Placed(n.name)
}

// Name is the name by which the policy closes what is hidden at a path, where that is one that a link gives it;
// "" where it is its own.
func (w *Wall) Name(path string) string { return w.led[path] }

// keepEnds has [Note] know where links lead that give closed names. Where that cannot be kept, nothing is
// noted of what is written there.
func (w *Wall) keepEnds() {
	if w.o.Cache == "" {
		return
	}
	file, list := endsFile(w.o.Cache, w.o.Root), strings.Join(outermost(w.ends), "\x00")
	before, err := os.ReadFile(file)
	switch {
	case err == nil && list == "":
		_ = os.Remove(file)
	case string(before) != list:
		_ = safefile.WriteFile(file, []byte(list), false)
	}
}

// atEnd reports whether a path lies where such a link leads.
func atEnd(cache, root, path string) bool {
	list, err := os.ReadFile(endsFile(cache, root))
	return err == nil && below(path, strings.Split(string(list), "\x00"))
}

func endsFile(cache, root string) string { return cacheFile(cache, root) + ".ends" }

// appearedBehind lists what has come to where links lead, and the policy lets no command make by the name that a link gives
// it. Where a link has come itself, it is listed instead of what was there before.
func (w *Wall) appearedBehind(now *tree) (list []string) {
	for _, at := range now.hits() {
		if safefile.InGit(at) {
			continue
		}
		var kept, links []string
		w.behind(at, func(n called) bool {
			switch {
			case n.way:
				links = append(links, n.path)
			case !w.keeps(n, policy.Missing):
				return false
			case n.file != policy.Missing && !below(n.path, kept) && !w.stands(n.path):
				kept = append(kept, n.path)
			}
			return true
		})
		if len(kept) == 0 {
			continue
		}
		old := func(path string) bool { return changedAt(path).Before(w.begun) }
		if links = slices.DeleteFunc(append(links, at), old); len(links) > 0 {
			if kept = slices.DeleteFunc(kept, old); !w.o.Policy.MayWrite(at, policy.Missing) {
				kept = nil // the link itself is put back or away
			}
			kept = append(kept, slices.DeleteFunc(links, w.stands)...)
		}
		list = append(list, kept...)
	}
	return list
}
