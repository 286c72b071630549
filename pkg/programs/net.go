package programs

import (
	"cmp"
	"iter"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// host lists the host that a word names.
func (c *Call) host(x Word) {
	if c.has("U", "unixsock") && Has("nc ncat netcat", c.Known) { // its operand is a socket in the file system
		c.lower(Known)
		c.does(Write, x)
		return
	}
	if c.has("l") && Has("nc ncat netcat", c.Known) { // it listens, and its operand is a port
		c.listens(x)
		return
	}
	s := x.Text
	if strings.HasPrefix(s, "-") || strings.HasPrefix(s, "+") {
		return
	}
	a := Net{Source: s, Scheme: c.scheme, Publishes: c.publishes || Has("nc ncat netcat telnet ftp lftp mosh socat autossh", c.Known)}
	if c.has("z") && Has("nc ncat netcat", c.Known) { // it only looks whether somebody listens
		a.Publishes = c.publishes
	}
	c.lower(Known)
	if x.Dynamic {
		a.Opaque = "the host is not known before it runs"
		c.Shell.Net(a)
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
		a.Host = x.Text
	}
	if c.port != nil {
		if a.Port != 0 {
			c.atPort(Word{Text: strconv.Itoa(a.Port)})
		}
		a.setPort(*c.port)
	}
	c.Shell.Net(a)
}

// atPort notes an option that names the port. Which of several counts is another matter with
// each program.
func (c *Call) atPort(x Word) {
	if c.port != nil && c.port.Text != x.Text {
		x.Dynamic = true
	}
	c.port = &x
}

// setPort takes the port from a word.
func (n *Net) setPort(x Word) {
	port, err := strconv.Atoi(x.Text)
	if err != nil || x.Dynamic {
		n.Opaque = cmp.Or(n.Opaque, "the port is not known")
		return
	}
	n.Port = port
}

// listens says that others may connect to the call: in the sandbox those are the session's own.
func (c *Call) listens(x Word) {
	c.lower(Known)
	c.Shell.Net(Net{Source: x.Text, Scheme: c.scheme, Host: "localhost"})
}

// fetch reads curl, wget and aria2c: their operands are addresses.
func (c *Call) fetch() {
	dirty := c.Shell.Dirty()
	c.parse()
	out, named := c.optionValue("output")
	if !named {
		out, named = c.optionValue("output-document")
	}
	if !named {
		out, named = c.optionValue("out")
	}
	if named && !out.Dynamic {
		c.Shell.Fetched(out)
	}
	dir, into := c.optionValue("output-dir")
	if !into && c.Known == "aria2c" {
		dir, into = c.optionValue("dir")
	}
	for _, o := range c.Given {
		if into && o.HasValue && (hasName(o.Names, "output") || hasName(o.Names, "out")) {
			x := Word{Text: strings.TrimSuffix(dir.Text, "/") + "/" + o.Value.Text, Dynamic: dir.Dynamic || o.Value.Dynamic}
			c.does(Write, x)
			c.Shell.Fetched(x)
		}
	}
	for _, o := range c.Given { // -d @file, -F name=@file
		if o.HasValue && (hasName(o.Names, "data") || hasName(o.Names, "json") || hasName(o.Names, "form") || hasName(o.Names, "data-binary") || hasName(o.Names, "data-urlencode") || hasName(o.Names, "header") || hasName(o.Names, "write-out")) {
			if _, name, ok := strings.Cut(o.Value.Text, "@"); ok && (strings.HasPrefix(o.Value.Text, "@") || hasName(o.Names, "form") || hasName(o.Names, "data-urlencode")) {
				c.does(Read, Word{Text: name, Dynamic: o.Value.Dynamic})
			}
			if _, name, ok := strings.Cut(o.Value.Text, "=<"); ok && hasName(o.Names, "form") {
				c.does(Read, Word{Text: name, Dynamic: o.Value.Dynamic})
			}
			for i, part := range strings.Split(o.Value.Text, "%output{") {
				if name, _, ends := strings.Cut(part, "}"); i > 0 && ends {
					c.does(Write, Word{Text: strings.TrimPrefix(name, ">>")})
				}
			}
		}
	}
	sends := c.configured(dirty)
	if c.settingsElsewhere() {
		c.Shell.Net(Net{Source: Cut(c.Source), Opaque: "its configuration says which host it reaches", Publishes: true})
		sends = true
	}
	from := 0
	for given := range c.requests() {
		until := len(c.Args)
		if n := len(given); n > 0 && isNext(&given[n-1]) {
			until = given[n-1].Behind
		}
		c.publishes = sends || uploads(given)
		c.request(given, c.Args[from:until], named)
		from = until
	}
}

// settingsElsewhere reports whether curl or wget reads its own settings from where a variable of the text says: they may have it
// send something. curl reads none with -q in front, wget with --no-config.
func (c *Call) settingsElsewhere() bool {
	var variables []string
	switch {
	case c.Known == "curl" && !(len(c.Words) > 1 && Has("-q --disable", c.Words[1].Text)):
		variables = []string{"CURL_HOME", "XDG_CONFIG_HOME", "HOME"}
	case c.Known == "wget" && !c.has("no-config"):
		variables = []string{"WGETRC", "SYSTEM_WGETRC", "HOME"}
	}
	return slices.ContainsFunc(variables, c.Shell.Sets)
}

// configured reads what curl takes from files of options (-K), and wget from settings on its command line (-e): their
// addresses are reached. It reports whether they may send something; what cannot be read does,
// as where files may be others by then.
func (c *Call) configured(dirty bool) (sends bool) {
	d := *c
	d.Words, d.Given, d.Args = slices.Clone(c.Words[:1]), nil, nil
	for _, o := range c.Given {
		switch {
		case !o.HasValue:
		case hasName(o.Names, "execute"): // wget reads a name without regard to case, - and _
			name, _, _ := strings.Cut(o.Value.Text, "=")
			name = strings.NewReplacer("-", "", "_", "").Replace(strings.ToLower(strings.TrimSpace(name)))
			sends = sends || o.Value.Dynamic || Has("method postdata postfile bodydata bodyfile", name)
		case hasName(o.Names, "config") && (c.Known == "curl" || c.Name == "curl"):
			words, ok := c.configWords(o.Value)
			if d.Words = append(d.Words, words...); !ok || dirty {
				c.Shell.Net(Net{Source: Cut(o.Value.Text), Opaque: "its configuration says which host it reaches", Publishes: true})
				sends = true
			}
		}
	}
	if len(d.Words) == 1 {
		return sends
	}
	d.parse()
	if d.has("config") {
		c.Shell.Net(Net{Source: Cut(d.Source), Opaque: "its configuration says which host it reaches", Publishes: true})
		return true
	}
	d.uploaded(d.Given)
	sends = sends || uploads(c.Given)
	for given := range d.requests() { // with --next, the last request may send nothing, and another one something
		sends = sends || uploads(given)
	}
	d.publishes = sends
	for _, x := range d.Args {
		d.address(x)
	}
	for _, o := range d.Given {
		if o.HasValue && hasName(o.Names, "url") {
			d.address(o.Value)
		}
	}
	return sends
}

// configWords are the options in a file of curl's: one a line, NAME = VALUE, NAME: VALUE or NAME VALUE, with or
// without dashes, the value perhaps in quotes (curl(1), "--config").
func (c *Call) configWords(file Word) (words []Word, ok bool) {
	paths := c.paths(file)
	if file.Text == "-" || len(paths) != 1 || !c.Shell.Sees() {
		return nil, false
	}
	text, err := c.Shell.ReadFile(paths[0])
	if err != nil {
		return nil, false
	}
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		end := strings.IndexAny(line, " \t=:")
		if end < 0 {
			end = len(line)
		}
		name, value := line[:end], strings.TrimLeft(line[end:], " \t=:")
		if !strings.HasPrefix(name, "-") {
			name = "--" + name
		}
		words = append(words, Word{Text: name})
		if quoted, in := strings.CutPrefix(value, `"`); in {
			end := strings.LastIndexByte(quoted, '"')
			if end < 0 || strings.Contains(quoted[:end], `\`) || strings.Contains(quoted[:end], `"`) {
				return words, false
			}
			value = quoted[:end]
		} else if end := strings.IndexAny(value, " \t"); end >= 0 {
			value = value[:end]
		}
		if value != "" {
			words = append(words, Word{Text: value})
		}
	}
	return words, true
}

// isNext reports whether what follows an option of curl is another request.
func isNext(o *Given) bool { return o.Names == "next" || o.Names == ":" }

// requests are the options of each request of a call: curl makes several, with --next between them.
func (c *Call) requests() iter.Seq[[]Given] {
	return func(yield func([]Given) bool) {
		from := 0
		for i := range c.Given {
			if isNext(&c.Given[i]) && (c.Known == "curl" || c.Name == "curl") {
				if !yield(c.Given[from : i+1]) {
					return
				}
				from = i + 1
			}
		}
		yield(c.Given[from:])
	}
}

// request reads one of the requests, to these addresses. named says that the file is named in which the answer goes.
func (c *Call) request(given []Given, addresses []Word, named bool) {
	files, upload := c.uploaded(given)
	for _, o := range given {
		switch {
		case !o.HasValue:
		case hasName(o.Names, "url") && c.publishes:
			c.address(o.Value)
			if upload {
				c.uploadedTo(o.Value, files)
			}
		case hasName(o.Names, "resolve"):
			c.resolved(o.Value)
		}
	}
	socket, _ := c.optionValue("unix-socket")
	if socket.Text == "" {
		socket, _ = c.optionValue("abstract-unix-socket")
	}
	here := socket.Text != "" && !socket.Dynamic && !slices.ContainsFunc(c.Given, func(o Given) bool { return isNext(&o) }) // whatever host the address names
	for _, x := range addresses {
		if here && (strings.HasPrefix(x.Text, "http://") || strings.HasPrefix(x.Text, "https://")) {
			continue
		}
		c.address(x)
		if upload {
			c.uploadedTo(x, files)
		}
		if !x.Dynamic && (c.Name == "wget" && !named && !c.has("spider") || c.has("remote-name") || c.Name == "aria2c" && !named) {
			c.downloaded(x.Text)
		}
	}
}

// uploaded lists the files that curl -T sends, and gives them: their names are patterns, as addresses are, but with -g.
// upload says that there is a -T, perhaps for the input alone.
func (c *Call) uploaded(given []Given) (files []Word, upload bool) {
	for _, o := range given {
		if !o.HasValue || !hasName(o.Names, "upload-file") {
			continue
		}
		upload = true
		names, known := []string{o.Value.Text}, true
		if !o.Value.Dynamic && !isOn(given, "globoff") {
			names, known = curlNames(o.Value.Text)
		}
		if !known {
			start := strings.IndexAny(o.Value.Text, `{[\\`)
			files = append(files, Word{Text: o.Value.Text, Dynamic: true, Lead: o.Value.Text[:start]})
			continue
		}
		for _, name := range names {
			if name != "" && name != "-" && name != "." { // these are its input
				x := o.Value
				x.Text = name
				files = append(files, x)
			}
		}
	}
	for _, x := range files {
		c.does(Read, x)
	}
	return files, upload
}

// curlNames are the names that a pattern of curl's stands for: {a,b} for either, and [a-z] for a range, which is not
// looked through; a backslash takes the meaning of these away.
func curlNames(pattern string) (names []string, known bool) {
	names = []string{""}
	add := func(s string) {
		for i := range names {
			names[i] += s
		}
	}
	for i := 0; i < len(pattern); i++ {
		switch {
		case pattern[i] == '\\' && i+1 < len(pattern) && strings.IndexByte("{}[]", pattern[i+1]) >= 0:
			i++
			add(pattern[i : i+1])
		case pattern[i] == '{':
			set, _, ok := strings.Cut(pattern[i+1:], "}")
			parts := strings.Split(set, ",")
			if !ok || strings.ContainsAny(set, `\{[`) || len(parts)*len(names) > 100 {
				return nil, false
			}
			var more []string
			for _, name := range names {
				for _, part := range parts {
					more = append(more, name+part)
				}
			}
			names = more
			i += len(set) + 1
		case pattern[i] == '[':
			return nil, false
		default:
			add(pattern[i : i+1])
		}
	}
	return names, true
}

// uploadedTo lists the file that curl -T writes at an address of this machine; in a directory, by its own name.
func (c *Call) uploadedTo(x Word, files []Word) {
	if x.Dynamic || len(x.Text) < 5 || !strings.EqualFold(x.Text[:5], "file:") {
		return
	}
	paths := localPaths(x.Text)
	path := paths[len(paths)-1]
	if !strings.HasSuffix(path, "/") {
		c.does(Write, Word{Text: path})
		return
	}
	for _, f := range files {
		c.does(Write, Word{Text: path + f.Text[strings.LastIndexByte(f.Text, '/')+1:], Dynamic: f.Dynamic, Lead: path})
	}
}

// localPaths are what an address file:PATH may stand for: with ? and # in the name or not, and, as the last, what it is when decoded.
func localPaths(address string) (paths []string) {
	whole := "/" + strings.TrimLeft(strings.TrimPrefix(address[len("file:"):], "//localhost"), "/")
	paths = append(paths, whole)
	path := whole
	if end := strings.IndexAny(path, "?#"); end >= 0 {
		path = path[:end]
		paths = append(paths, path)
	}
	if decoded, err := url.PathUnescape(path); err == nil && decoded != path {
		paths = append(paths, decoded)
	}
	return paths
}

// resolved lists the addresses that curl --resolve gives a name: [+]HOST:PORT:ADDRESS[,ADDRESS]...,
// while -HOST:PORT takes them away again (curl(1), "--resolve").
func (c *Call) resolved(x Word) {
	a := Net{Source: Cut(x.Text), Publishes: c.publishes}
	if x.Dynamic {
		a.Opaque = "the address is not known before it runs"
		c.Shell.Net(a)
		return
	}
	if strings.HasPrefix(x.Text, "-") {
		return
	}
	pair := strings.TrimPrefix(x.Text, "+")
	_, rest, _ := strings.Cut(pair[hostEnd(pair):], ":")
	digits, list, ok := strings.Cut(rest, ":")
	port, err := strconv.Atoi(digits)
	if !ok || err != nil || list == "" {
		a.Opaque = "the address is not understood"
		c.Shell.Net(a)
		return
	}
	for address := range strings.SplitSeq(list, ",") {
		a.Host, a.Port = strings.Trim(address, "[]"), port
		c.Shell.Net(a)
	}
}

// uploads reports whether a request of curl or wget sends more than a question: another method, or a body, whatever the method is.
func uploads(given []Given) bool {
	has := func(names ...string) bool {
		return slices.ContainsFunc(given, func(o Given) bool {
			return slices.ContainsFunc(names, func(n string) bool { return hasName(o.Names, n) })
		})
	}
	for _, o := range slices.Backward(given) {
		if o.HasValue && (hasName(o.Names, "request") || hasName(o.Names, "method")) {
			if o.Value.Dynamic || !Has("GET HEAD OPTIONS TRACE", strings.ToUpper(o.Value.Text)) {
				return true
			}
			break
		}
	}
	if has("upload-file", "form", "form-string", "quote", "post-data", "post-file", "body-data", "body-file", "post_data") {
		return true
	}
	return !isOn(given, "get") && has("data", "data-ascii", "data-binary", "data-raw", "data-urlencode", "json") // -G puts them into the address
}

// httpieOptions are those of http, and of xh, that take a value.
const httpieOptions = "raw: boundary: pretty: s,style: response-charset: response-mime: format-options: p,print: P,history-print: o,output: session: session-read-only: a,auth: A,auth-type: bearer: " +
	"proxy: max-redirects: max-headers: timeout: verify: ssl: ciphers: cert: cert-key: cert-key-pass: default-scheme: resolve: interface: unix-socket: http-version: generate: I,ignore-stdin"

// httpie reads http, https and xh: a method, an address, and what is sent, which may come from its input.
func (c *Call) httpie() {
	d := c.sortedBy(httpieOptions)
	words := slices.Clone(d.Args)
	in := c.Shell.Stdin()
	c.publishes = d.has("raw") || in.Set && !(in.Known && in.Text == "") && !d.has("ignore-stdin")
	if len(words) > 1 && httpieMethod(words[0], words[1]) {
		c.publishes = c.publishes || words[0].Dynamic || !Has("GET HEAD OPTIONS", strings.ToUpper(words[0].Text))
		words = words[1:]
	}
	if len(words) == 0 {
		return
	}
	c.publishes = c.publishes || slices.ContainsFunc(words[1:], func(x Word) bool { return x.Dynamic || httpieSends(x.Text) })
	if x := words[0]; strings.HasPrefix(x.Text, ":") { // the own machine's, as :3000/path
		x.Text, x.Lead = "localhost"+strings.TrimSuffix(x.Text, ":"), "localhost"+x.Lead
		words[0] = x
	}
	c.address(words[0])
}

// httpieMethod reports whether a word is the method, and the next one the address. localhost alone is an address.
func httpieMethod(x, next Word) bool {
	if x.Dynamic {
		return x.Lead == "" && !next.Dynamic && (strings.Contains(next.Text, "://") || !strings.ContainsAny(next.Text, ":=@"))
	}
	return x.Text != "localhost" && strings.Trim(strings.ToUpper(x.Text), "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == ""
}

// httpieSends reports whether an item of a request is sent as data, or holds a file: the first separator in it counts.
// NAME:VALUE is a header, and NAME==VALUE is put into the address.
func httpieSends(item string) bool {
	for i := 0; i < len(item); i++ {
		rest := item[i:]
		switch {
		case item[i] == '\\':
			i++
		case strings.HasPrefix(rest, ":="), strings.HasPrefix(rest, ":@"), strings.HasPrefix(rest, "==@"):
			return true
		case strings.HasPrefix(rest, "=="), item[i] == ':':
			return false
		case item[i] == '=' || item[i] == '@':
			return true
		}
	}
	return false
}

// downloaded lists the file that an address is saved as.
func (c *Call) downloaded(address string) {
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
		if v, ok := c.optionValue(n); ok && !v.Dynamic {
			dir = strings.TrimSuffix(v.Text, "/") + "/"
		}
	}
	x := Word{Text: dir + name}
	c.does(Create, x)
	c.Shell.Fetched(x)
	if c.has("recursive", "mirror", "remote-header-name", "content-disposition", "trust-server-names", "page-requisites") {
		c.Shell.File(File{Effect: Create, Word: Word{Text: cmp.Or(dir, ".")}, Source: address, Why: "the server decides the names"})
	}
}

// address lists what one URL reaches.
func (c *Call) address(x Word) {
	s := x.Text
	a := Net{Source: Cut(s), Publishes: c.publishes}
	if x.Dynamic {
		a.Opaque = "the address is not known before it runs"
		host, after, ok := strings.Cut(strings.TrimPrefix(x.Lead, "http://"), "/")
		if name, _, more := strings.Cut(host, ":"); (ok || more) && Has("localhost 127.0.0.1", name) {
			// What follows the slash is no part of the address; in place of a port may be
			// another host.
			if a.Host = name; ok && !x.Multi && !strings.HasPrefix(after, "/") {
				a.Opaque = ""
			}
		}
		c.Shell.Net(a)
		return
	}
	if len(s) >= 5 && strings.EqualFold(s[:5], "file:") {
		for _, path := range localPaths(s) {
			c.does(ReadTree, Word{Text: path})
		}
		if strings.ContainsAny(s, "{}[]") {
			c.opaque("an address that stands for several")
		}
		return
	}
	if strings.ContainsAny(s, "{}[]") && !strings.Contains(s, "://[") && !strings.HasPrefix(s, "[") {
		a.Opaque = "an address that stands for several"
	}
	if !strings.Contains(s, "://") {
		s = "http://" + s
	}
	u, err := url.Parse(s)
	if err != nil || u.Hostname() == "" {
		a.Opaque = cmp.Or(a.Opaque, "the address is not understood")
		c.Shell.Net(a)
		return
	}
	a.Scheme, a.Host, a.URL = strings.ToLower(u.Scheme), u.Hostname(), s
	a.Port, _ = strconv.Atoi(u.Port())
	a.Publishes = a.Publishes || Has("telnet gopher gophers smtp smtps", a.Scheme)
	c.Shell.Net(a)
}

// located reads xmllint and pandoc: what they read may be named by its address, and xmllint
// decodes the name of a file that is not there.
func (c *Call) located() {
	c.parse()
	words := c.Args
	for _, o := range c.Given {
		if o.HasValue && (hasName(o.Names, "schema") || hasName(o.Names, "relaxng") || hasName(o.Names, "schematron")) {
			words = append(slices.Clone(words), o.Value)
		}
	}
	for _, x := range words {
		t := x.Text
		if x.Dynamic {
			t = x.Lead
		}
		if strings.Contains(t, "://") || len(t) > 6 && strings.EqualFold(t[:6], "file:/") {
			c.lower(Known)
			c.address(x)
			continue
		}
		c.does(Read, x)
		if decoded, err := url.PathUnescape(t); c.Name == "xmllint" && err == nil && decoded != t {
			c.does(Read, Word{Text: decoded})
		}
	}
}

// remote reads ssh, scp, sftp and rsync. What runs on the other host is not
// judged.
func (c *Call) remote() {
	c.parse()
	c.scheme = "ssh"
	c.publishes = c.Name == "ssh" || c.Name == "sftp" || len(c.Args) > 0 && far(c.Args[len(c.Args)-1])
	port := "P"
	if c.Name == "ssh" {
		port = "p"
	}
	for _, o := range c.Given {
		switch {
		case c.Name == "rsync" || !o.HasValue:
		case hasName(o.Names, "o"):
			c.sshOption(o.Value)
		case hasName(o.Names, port):
			c.atPort(o.Value)
		}
	}
	if c.Name == "ssh" || c.Name == "sftp" {
		switch {
		case len(c.Args) == 0:
		case c.Name == "sftp":
			c.farHost(c.Args[0])
		default:
			c.sshHost(c.Args[0])
		}
		if c.Name == "ssh" && len(c.Args) > 1 {
			c.opaque("commands for another host")
		}
		return
	}
	if c.Name == "rsync" {
		c.Shell.SetClass(Known)
	}
	for _, o := range c.Given {
		if o.HasValue && hasName(o.Names, "filter") { // merge FILE, dir-merge FILE, . FILE, : FILE
			kind, name, _ := strings.Cut(strings.TrimLeft(o.Value.Text, " "), " ")
			if o.Value.Dynamic {
				c.opaque("a filter that is not known before it runs")
			} else if k, _, _ := strings.Cut(kind, ","); k == "merge" || k == "dir-merge" || strings.HasPrefix(k, ".") || strings.HasPrefix(k, ":") {
				c.does(Read, Word{Text: strings.TrimSpace(name)})
			}
		}
	}
	n := len(c.Args)
	if n == 1 && c.Args[0].Dynamic {
		c.opaque("the target is not known before it runs")
	}
	for i, x := range c.Args {
		switch {
		case far(x):
			c.farHost(x)
		case i == n-1 && n > 1:
			c.written(c.farNames(c.Args[:n-1]), x, n > 2 || strings.HasSuffix(x.Text, "/"), c.Name == "rsync" || c.has("r"))
			if c.Name == "rsync" && c.has("delete", "delete-before", "delete-during", "delete-after", "delete-delay", "delete-excluded") {
				c.file(DeleteTree, x)
			}
		default:
			c.does(ReadTree, x)
		}
	}
}

// far reports whether an operand of scp or rsync lies on another host.
func far(x Word) bool {
	host, _, ok := strings.Cut(x.Text, ":")
	return ok && !strings.Contains(host, "/")
}

// farHost lists the host of an operand of scp, sftp or rsync that lies on another:
// [USER@]HOST:PATH, or a URL; of rsync also HOST::MODULE, which as a URL is for its daemon.
func (c *Call) farHost(x Word) {
	s, isURL := c.withoutScheme(x.Text)
	end := hostEnd(s)
	host, rest := s[:end], s[end:]
	users := strings.Count(host, "@")
	host = host[strings.LastIndexByte(host, '@')+1:]
	if !strings.Contains(host, ":") { // as an address of IPv6 has in its brackets
		host = strings.Trim(host, "[]")
	}
	daemon := c.Name == "rsync" && (isURL || strings.HasPrefix(rest, "::"))
	if x.Dynamic || !daemon && !isURL {
		c.host(Word{Text: host, Dynamic: x.Dynamic})
		return
	}
	a := Net{Source: Cut(x.Text), Scheme: c.scheme, Host: strings.Trim(host, "[]"), Publishes: c.publishes}
	port, named := Word{}, false
	switch {
	case daemon:
		a.Scheme, a.Port = "rsync", rsyncPort
		port, named = c.optionValue("port")
	case c.port != nil:
		port, named = *c.port, true
	}
	if digits, ok := strings.CutPrefix(rest, ":"); ok && isURL {
		digits, _, _ = strings.Cut(digits, "/")
		port, named = Word{Text: digits}, true
	}
	if named {
		a.setPort(port)
	}
	if users > 1 || host == "" {
		a.Host, a.Opaque = "", "the address is not understood"
	}
	c.Shell.Net(a)
}

// withoutScheme takes the scheme off an address that begins with the name of the program.
func (c *Call) withoutScheme(s string) (rest string, isURL bool) {
	scheme := c.Name + "://"
	if len(s) > len(scheme) && strings.EqualFold(s[:len(scheme)], scheme) {
		return s[len(scheme):], true
	}
	return s, false
}

// farNames are operands by the names that they get here: of those on another host, only what
// stands behind the host. What rsync takes of a directory or module, and what the other host
// makes of a pattern, is not known.
func (c *Call) farNames(words []Word) []Word {
	out := slices.Clone(words)
	for i, x := range out {
		if x.Dynamic || !far(x) {
			continue
		}
		name, isURL := c.withoutScheme(x.Text)
		name = name[hostEnd(name):]
		if isURL {
			name = name[max(strings.IndexByte(name, '/'), 0):]
		}
		daemon := isURL || strings.HasPrefix(name, "::")
		name = strings.TrimLeft(name, ":")
		whole := name == "" || strings.HasSuffix(name, "/") || daemon && !strings.Contains(strings.TrimPrefix(name, "/"), "/")
		out[i] = Word{Text: name, Dynamic: c.Name == "rsync" && whole || strings.ContainsAny(name, "*?[")}
	}
	return out
}

// rsyncPort is where a daemon of rsync listens when nothing else is said.
const rsyncPort = 873

// hostEnd is where the host ends that a text begins with: at a colon or slash outside of the
// brackets of an address.
func hostEnd(s string) int {
	inside := false
	for i := range len(s) {
		switch {
		case s[i] == '[' && (i == 0 || s[i-1] == '@'):
			inside = true
		case s[i] == ']':
			inside = false
		case !inside && (s[i] == ':' || s[i] == '/'):
			return i
		}
	}
	return len(s)
}

func (c *Call) sshHost(x Word) {
	x.Text = strings.TrimPrefix(x.Text, "ssh://")
	x.Text = x.Text[strings.LastIndexByte(x.Text, '@')+1:]
	c.host(x)
}

// sshOption judges -o Name=value.
func (c *Call) sshOption(x Word) {
	name, val, ok := strings.Cut(x.Text, "=")
	if !ok {
		name, val, _ = strings.Cut(x.Text, " ")
	}
	value := Word{Text: strings.TrimSpace(val), Dynamic: x.Dynamic}
	switch strings.ToLower(strings.TrimSpace(name)) {
	case "proxycommand", "localcommand", "knownhostscommand", "remotecommand":
		c.Shell.Text(value)
	case "port":
		c.atPort(value)
	}
}
