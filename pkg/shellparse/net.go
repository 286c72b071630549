package shellparse

import (
	"net/url"
	"strconv"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/programs"

	"github.com/agentkit-go/agentkit/pkg/policy"
)

// host lists the host that a word names.
func (w *walker) host(c *call, x word) {
	s := x.text
	if strings.HasPrefix(s, "-") || strings.HasPrefix(s, "+") {
		return
	}
	a := policy.Access{Kind: policy.Net, Parent: c.index + 1, Source: s}
	c.lower(w, policy.Known)
	if x.dyn {
		a.Opaque = "the host is not known before it runs"
		w.emit(a)
		return
	}
	s = strings.TrimPrefix(s, "@")
	if !strings.Contains(s, "://") {
		s = "x://" + s
	}
	if u, err := url.Parse(s); err == nil && u.Hostname() != "" {
		a.Host = u.Hostname()
		a.Port, _ = strconv.Atoi(u.Port())
	} else {
		a.Host = x.text
	}
	w.emit(a)
}

// fetch reads curl, wget and aria2c: their operands are addresses.
func (w *walker) fetch(c *call) {
	w.options(c, c.prog.Options, c.prog.Style)
	out, named := c.optionValue("output")
	if !named {
		out, named = c.optionValue("output-document")
	}
	if !named {
		out, named = c.optionValue("out")
	}
	if named && !out.dyn {
		w.fetched = append(w.fetched, w.paths(out)...)
	}
	for _, o := range c.opts { // -d @file, -F name=@file
		if o.has && (hasName(o.names, "data") || hasName(o.names, "json") || hasName(o.names, "form") || hasName(o.names, "data-binary") || hasName(o.names, "data-urlencode") || hasName(o.names, "header") || hasName(o.names, "write-out")) {
			if _, name, ok := strings.Cut(o.val.text, "@"); ok && (strings.HasPrefix(o.val.text, "@") || hasName(o.names, "form") || hasName(o.names, "data-urlencode")) {
				w.role(c, programs.Read, word{text: name, dyn: o.val.dyn})
			}
			if _, name, ok := strings.Cut(o.val.text, "=<"); ok && hasName(o.names, "form") {
				w.role(c, programs.Read, word{text: name, dyn: o.val.dyn})
			}
			if _, name, ok := strings.Cut(o.val.text, "%output{"); ok {
				name, _, _ = strings.Cut(name, "}")
				w.role(c, programs.Write, word{text: name})
			}
		}
	}
	if c.name == "curl" && !c.given("disable") {
		w.role(c, programs.Read, word{text: strings.TrimSuffix(w.home(), "/") + "/.curlrc"})
		if n := len(w.out.Accesses); w.out.Accesses[n-1].Kind == policy.Read {
			w.out.Accesses = w.out.Accesses[:n-1] // the user's own settings are no need of the call
		}
	}
	for _, x := range c.args {
		w.address(c, x)
		if !x.dyn && (c.name == "wget" && !named && !c.given("spider") || c.given("remote-name") || c.name == "aria2c" && !named) {
			w.downloaded(c, x.text)
		}
	}
}

// downloaded lists the file that an address is saved as.
func (w *walker) downloaded(c *call, address string) {
	name := address
	if i := strings.IndexAny(name, "?#"); i >= 0 {
		name = name[:i]
	}
	name = name[strings.LastIndexByte(name, '/')+1:]
	if name == "" || !strings.Contains(strings.TrimPrefix(address, "https://"), "/") {
		name = "index.html"
	}
	dir := ""
	for _, n := range []string{"output-dir", "directory-prefix", "dir"} {
		if v, ok := c.optionValue(n); ok && !v.dyn {
			dir = strings.TrimSuffix(v.text, "/") + "/"
		}
	}
	x := word{text: dir + name}
	w.role(c, programs.Create, x)
	w.fetched = append(w.fetched, w.paths(x)...)
	if c.given("recursive", "mirror", "remote-header-name", "content-disposition", "trust-server-names", "page-requisites") {
		w.file(fileAccess{kind: policy.Write, op: policy.Create, parent: c.index + 1, src: address, why: "the server decides the names"}, word{text: cmpOr(dir, ".")})
	}
}

// address lists what one URL reaches.
func (w *walker) address(c *call, x word) {
	s := x.text
	a := policy.Access{Kind: policy.Net, Parent: c.index + 1, Source: cut(s), URL: s}
	if x.dyn {
		a.Opaque = "the address is not known before it runs"
		w.emit(a)
		return
	}
	if path, ok := strings.CutPrefix(strings.ToLower(s), "file:"); ok {
		path = s[len(s)-len(path):]
		path = "/" + strings.TrimLeft(strings.TrimPrefix(path, "//localhost"), "/")
		w.role(c, programs.ReadTree, word{text: path})
		return
	}
	if strings.ContainsAny(s, "{}[]") && !strings.Contains(s, "://[") {
		a.Opaque = "an address that stands for several"
	}
	if !strings.Contains(s, "://") {
		s = "http://" + s
	}
	u, err := url.Parse(s)
	if err != nil || u.Hostname() == "" {
		a.Opaque = cmpOr(a.Opaque, "the address is not understood")
		w.emit(a)
		return
	}
	a.Scheme, a.Host = strings.ToLower(u.Scheme), u.Hostname()
	a.Port, _ = strconv.Atoi(u.Port())
	w.emit(a)
}

// remote reads ssh, scp, sftp and rsync. What runs on the other host is not
// judged.
func (w *walker) remote(c *call) {
	w.options(c, c.prog.Options, c.prog.Style)
	for _, o := range c.opts {
		if c.name != "rsync" && hasName(o.names, "o") && o.has {
			w.sshOption(c, o.val)
		}
	}
	if c.name == "ssh" || c.name == "sftp" {
		if len(c.args) > 0 {
			w.sshHost(c, c.args[0])
		}
		if c.name == "ssh" && len(c.args) > 1 {
			c.opaque(w, "commands for another host")
		}
		return
	}
	if c.name == "rsync" {
		w.lowerTo(c, policy.Known)
	}
	for _, o := range c.opts {
		if o.has && hasName(o.names, "filter") { // merge FILE, dir-merge FILE, . FILE, : FILE
			kind, name, _ := strings.Cut(strings.TrimLeft(o.val.text, " "), " ")
			if o.val.dyn {
				c.opaque(w, "a filter that is not known before it runs")
			} else if k, _, _ := strings.Cut(kind, ","); k == "merge" || k == "dir-merge" || strings.HasPrefix(k, ".") || strings.HasPrefix(k, ":") {
				w.role(c, programs.Read, word{text: strings.TrimSpace(name)})
			}
		}
	}
	n := len(c.args)
	for i, x := range c.args {
		host, _, far := strings.Cut(x.text, ":")
		far = far && !strings.Contains(host, "/")
		switch {
		case far:
			w.sshHost(c, word{text: host, dyn: x.dyn})
		case i == n-1 && n > 1:
			w.written(c, c.args[:n-1], x, n > 2 || strings.HasSuffix(x.text, "/"), c.name == "rsync" || c.given("r"))
			if c.name == "rsync" && c.given("delete", "delete-before", "delete-during", "delete-after", "delete-delay", "delete-excluded") {
				w.file(fileAccess{kind: policy.Write, op: policy.Delete, tree: true, parent: c.index + 1, src: x.text}, x)
			}
		default:
			w.role(c, programs.ReadTree, x)
		}
	}
}

func (w *walker) sshHost(c *call, x word) {
	x.text = strings.TrimPrefix(x.text, "ssh://")
	x.text = x.text[strings.LastIndexByte(x.text, '@')+1:]
	w.host(c, x)
}

// sshOption judges -o Name=value.
func (w *walker) sshOption(c *call, x word) {
	name, val, ok := strings.Cut(x.text, "=")
	if !ok {
		name, val, _ = strings.Cut(x.text, " ")
	}
	switch strings.ToLower(strings.TrimSpace(name)) {
	case "proxycommand", "localcommand", "knownhostscommand", "remotecommand":
		w.shellText(c, word{text: strings.TrimSpace(val), dyn: x.dyn})
	}
}
