package policy

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/safefile"
)

// systemFile reports what a command reads outside the root without a question:
// the system's directories, programs with their installations, the repository
// that the root lies in, and what programs keep in the home.
func (p *Policy) systemFile(name string) bool {
	in := func(dirs []string) bool {
		return slices.ContainsFunc(dirs, func(dir string) bool { return safefile.Below(dir, name) })
	}
	return in(p.systemDirs()) || in(p.installed) || p.encloses(name) || p.trusts(name) || p.dotEntry(name)
}

// Enclosing is the work tree of the repository that the root is a part of; "" for none.
func (p *Policy) Enclosing() string { return p.enclosing }

func (w *world) encloses(name string) bool {
	return w.enclosing != "" && safefile.Below(w.enclosing, name)
}

// dotEntry reports whether a path is one of the home's dot entries, or below one.
func (w *world) dotEntry(name string) bool {
	return w.home != "" && w.home != "/" && strings.HasPrefix(firstBelow(w.home, name), ".")
}

// personal are the directories in which people put links to their own files elsewhere; "" is the home
// itself. No command writes right in one of them unasked.
var personal = [...]string{"", ".config", ".cache", ".local/bin", ".local/share"}

// dotLink reports whether a file is read that links in the home's dot entries lead to, which no command can have
// made: each is a person's, or the system's.
func (p *Policy) dotLink(f *facts) bool {
	if !p.dotEntry(f.via) {
		return false
	}
	links, real, err := safefile.Follow("", filepath.FromSlash(f.via))
	return err == nil && foldPath(slashed(real)) == f.folded && !slices.ContainsFunc(links, func(link string) bool {
		link = slashed(link)
		return !p.placed(link) || safefile.Below(p.root, link) || p.inTemp(link, true) || p.MayWrite(link, Missing)
	})
}

// placed reports whether a link lies where the system or a person puts links.
func (p *Policy) placed(link string) bool {
	dir := path.Dir(link)
	return dir == "/" || dir == "/var" || slices.ContainsFunc(systemDirs[:], func(d string) bool { return safefile.Below(d, link) }) ||
		slices.ContainsFunc(personal[:], func(name string) bool { return dir == path.Join(p.home, name) })
}

// systemDirs are the same for everybody, but for the secrets in them. Of /var and
// /run it is what package managers and resolvers keep there: the rest is the data
// of services.
var systemDirs = [...]string{
	"/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/usr", "/opt", "/nix", "/gnu/store", "/snap", "/run/current-system", "/run/opengl-driver", "/run/systemd/resolve", "/run/resolvconf", "/run/NetworkManager/resolv.conf", "/run/nscd",
	"/var/lib/dpkg", "/var/lib/apt", "/var/lib/rpm", "/var/lib/pacman", "/var/lib/apk", "/var/lib/ca-certificates", "/var/lib/ghc", "/var/lib/gems", "/var/lib/dbus/machine-id",
	"/var/cache/fontconfig", "/var/cache/apt", "/var/cache/man", "/var/db", "/System", "/Library", "/Applications", "/private/var/db",
	"/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/ld.so.preload", "/etc/localtime", "/etc/timezone", "/etc/locale.alias",
	"/etc/hostname", "/etc/group", "/etc/shells", "/etc/profile", "/etc/nsswitch.conf", "/etc/resolv.conf", "/etc/hosts", "/etc/host.conf", "/etc/services", "/etc/protocols", "/etc/mime.types", "/etc/magic",
	"/etc/os-release", "/etc/lsb-release", "/etc/debian_version", "/etc/alternatives", "/etc/terminfo", "/etc/ssl/certs", "/etc/ssl/openssl.cnf",
	"/etc/ca-certificates", "/etc/pki/tls/certs", "/etc/fonts",
	"/proc/cpuinfo", "/proc/meminfo", "/proc/version", "/proc/loadavg", "/proc/uptime", "/proc/stat", "/proc/filesystems", "/proc/self/status", "/proc/self/stat", "/proc/mounts", "/proc/self/mounts", "/proc/self/mountinfo", "/proc/self/cgroup",
	"/proc/self/limits", "/proc/self/comm", "/proc/self/fd", "/proc/vmstat", "/proc/partitions", "/proc/diskstats", "/proc/swaps", "/proc/sys/fs", "/proc/sys/kernel", "/proc/sys/net", "/proc/sys/vm",
	"/sys/block", "/sys/class/net", "/sys/devices/system", "/sys/fs/cgroup", "/sys/kernel/mm",
	"/.dockerenv", "/run/.containerenv",
}

// systemDirs are those that count here. Who works below /opt has other projects there:
// then only what lies on PATH, with its installation, is the system's.
func (w *world) systemDirs() []string {
	if safefile.Below("/opt", w.root) || safefile.Below("/opt", w.home) {
		return slices.DeleteFunc(slices.Clone(systemDirs[:]), func(dir string) bool { return dir == "/opt" })
	}
	return systemDirs[:]
}

// Installations lists the directories of programs outside the root and the system's own
// directories: what lies on PATH, with its installation, and /opt.
func (p *Policy) Installations() (list []string) {
	for _, dir := range append([]string{"/opt"}, p.installed...) {
		system := slices.ContainsFunc(systemDirs[:], func(s string) bool { return s != "/opt" && safefile.Below(s, dir) })
		if !system && dir != p.enclosing && !slices.ContainsFunc(list, func(d string) bool { return safefile.Below(d, dir) }) {
			list = append(list, dir)
		}
	}
	return list
}

// settingDirs are where every program looks by itself, for users, hosts and
// settings. A command that names a file there in so many words is asked about
// all but the usual ones of them.
var settingDirs = [...]string{"/etc", "/proc", "/sys", "/dev"}

// newInstalled returns the directories of installations: those that are given,
// and of programs' directories such as X/bin what holds them.
func (w *world) newInstalled(given []string) (list []string) {
	add := func(dir string) {
		if dir != "" && dir != "/" && !safefile.Below(dir, w.root) && !safefile.Below(dir, w.home) && !w.inTemp(dir, false) && !slices.Contains(list, dir) {
			list = append(list, dir)
		}
	}
	for _, dir := range given {
		if safefile.Below(dir, w.root) && dir != w.root && dir != "/" && !safefile.Below(dir, w.home) {
			w.enclosing = dir // the repository's
		}
		add(dir)
	}
	for _, dir := range w.trusted {
		add(dir)
		if name := path.Base(dir); name == "bin" || name == "sbin" || name == "shims" {
			add(path.Dir(dir))
		}
	}
	return list
}

// Outside lists the directories outside the root that a command reads without a
// question, but for what of them MayRead says no to, and the single files; home stands
// for its dot entries. all says that it reads everything.
func (p *Policy) Outside() (dirs, files []string, home string, all bool) {
	if p.settings[readOutside].verdict == Allow {
		return nil, nil, "", true
	}
	dirs = slices.Concat(p.systemDirs(), settingDirs[:], p.installed, p.trusted)
	for _, r := range p.rules.read {
		switch {
		case r.list != Allow:
		case r.bare && r.tool == "*":
			return nil, nil, "", true
		case r.path == nil || r.path.fold || !p.MayRead(orElse(r.path.base, "/"), ""):
		case r.path.kind == treePath:
			dirs = append(dirs, orElse(r.path.base, "/"))
		case r.path.kind == literalPath:
			files = append(files, orElse(r.path.base, "/"))
		}
	}
	return dirs, files, p.home, slices.Contains(dirs, "/")
}

// A Place is a directory outside the root that is opened to commands with all that is in it.
type Place struct {
	Dir   string
	Write bool // and not only for reading
}

// Everything reports whether a place is all there is, for reading, as a profile, outside.read or read(/**) opens it:
// of what is secret there only what has a known place is closed.
func (at *Place) Everything() bool { return at.Dir == "/" && !at.Write }

// Places lists those that rules and settings open, none twice. Temporary directories are
// not among them.
func (p *Policy) Places() (list []Place) {
	add := func(dir string, write bool) {
		dir = orElse(dir, "/")
		if safefile.Below(p.root, dir) || p.inTemp(dir, false) || slices.Contains(p.temp, dir) {
			return
		}
		i := slices.IndexFunc(list, func(at Place) bool { return at.Dir == dir })
		if i < 0 {
			i, list = len(list), append(list, Place{Dir: dir})
		}
		list[i].Write = list[i].Write || write
	}
	if p.settings[readOutside].verdict == Allow {
		add("", false)
	}
	for _, r := range p.rules.read {
		switch {
		case r.list == Allow && r.bare && r.tool == "*":
			add("", false)
		case r.opensTree() && p.MayRead(orElse(r.path.base, "/"), ""):
			add(r.path.base, false)
		}
	}
	for _, r := range p.rules.write {
		if r.opensTree() && r.path.base != "" && p.MayWrite(r.path.base, "") {
			add(r.path.base, true)
		}
	}
	return list
}

// opensTree reports whether a rule allows a directory with all that is in it.
func (r *rule) opensTree() bool {
	return r.list == Allow && r.path != nil && !r.path.fold && r.path.kind == treePath
}

// opens reports whether a file outside the root lies in what is opened as a whole. What package managers
// fetch is there what it is in the root.
func (p *Policy) opens(a *Access, file string) bool {
	if a.Kind == Read && p.settings[readOutside].verdict == Allow {
		return true
	}
	return slices.ContainsFunc(p.rules.file(a.Kind), func(r *rule) bool { return r.opensTree() && r.path.match(file) })
}

// PassedOutside reports whether a look through a place passes a directory over: the system's own, programs with
// their installations, temporary directories and our state, of which it is known otherwise what is closed there.
func (p *Policy) PassedOutside(dir string) bool {
	dir = slashed(dir)
	in := func(list []string) bool { return slices.Contains(list, dir) }
	return in(systemDirs[:]) || in(settingDirs[:]) || in(p.temp) || in(p.trusted) || in(p.installed) || dir == "/run" || foldPath(dir) == p.state
}

// Writable lists the directories and single files outside the root that rules let a
// command write, and what of the root, in a directory that holds them, where it may not
// write there in general.
func (p *Policy) Writable() (dirs, files []string) {
	for _, r := range p.rules.write {
		switch {
		case r.list != Allow || r.path == nil || r.path.fold || r.path.base == "" || !p.MayWrite(r.path.base, ""):
		case r.path.kind == treePath:
			dirs = append(dirs, r.path.base)
		case r.path.kind == literalPath:
			files = append(files, r.path.base)
		}
	}
	return dirs, files
}
