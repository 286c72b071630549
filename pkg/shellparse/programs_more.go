package shellparse

import (
	"slices"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/programs"

	"github.com/agentkit-go/agentkit/pkg/policy"
)

// escaped judges the shell commands in what a program with escapes is given: its
// words, and its input where that is known.
func (w *walker) escaped(c *call) {
	if c.prog.Escapes != "" {
		texts := c.words[1:]
		if w.stdin.known {
			texts = append(texts[:len(texts):len(texts)], word{text: w.stdin.text})
		}
		for _, x := range texts {
			if !x.dyn {
				w.escapedLines(c, x.text, c.prog.Escapes)
				w.databaseFiles(c, x.text)
			}
		}
		return
	}
	if c.known == "m4" && w.stdin.known {
		w.macros(c, w.stdin.text)
	}
}

func (w *walker) escapedLines(c *call, text, marks string) {
	for line := range strings.SplitSeq(strings.ReplaceAll(text, ";", "\n"), "\n") {
		line = strings.TrimSpace(line)
		for mark := range strings.SplitSeq(marks, "|") {
			if rest, ok := strings.CutPrefix(line, mark); ok && strings.TrimSpace(rest) != "" {
				c.opaque(w, "a line that runs a command")
				w.shellText(c, word{text: strings.TrimSpace(rest)})
				break
			}
		}
	}
}

// databaseWrites and databaseReads are the orders to sqlite3 and psql that name
// a file.
const (
	databaseWrites = ` .output .once .save .backup .dump .log .excel .open .clone .trace .archive \o \out \w \write \s \lo_export `
	databaseReads  = ` .import .read .restore .load \i \ir \include \include_relative \lo_import `
)

// databaseFiles lists the files that lines for a database's shell name.
func (w *walker) databaseFiles(c *call, text string) {
	if c.known != "sqlite3" && c.known != "psql" {
		return
	}
	for line := range strings.SplitSeq(strings.ReplaceAll(text, ";", "\n"), "\n") {
		fields := strings.Fields(line)
		for i, f := range fields {
			next := ""
			if i+1 < len(fields) {
				next = strings.Trim(fields[i+1], `'"`)
			}
			switch low := strings.ToLower(f); {
			case next == "" || strings.HasPrefix(next, "-"):
			case i == 0 && strings.Contains(databaseWrites, " "+low+" "):
				w.role(c, programs.Write, word{text: next})
			case i == 0 && strings.Contains(databaseReads, " "+low+" "):
				w.role(c, programs.Read, word{text: next})
			case low == "program" && c.known == "psql":
				_, cmd, _ := strings.Cut(line, "'")
				cmd, _, _ = strings.Cut(cmd, "'")
				w.shellText(c, word{text: cmd})
			case low == "attach" && strings.EqualFold(next, "database") && i+2 < len(fields):
				w.role(c, programs.Write, word{text: strings.Trim(fields[i+2], `'"`)})
			case low == "attach":
				w.role(c, programs.Write, word{text: next})
			}
		}
	}
}

// macros judges syscmd(TEXT) and esyscmd(TEXT) of m4.
func (w *walker) macros(c *call, text string) {
	for {
		_, rest, ok := strings.Cut(text, "syscmd(")
		if !ok {
			return
		}
		c.opaque(w, "a macro that runs a command")
		cmd, after, _ := strings.Cut(rest, ")")
		w.shellText(c, word{text: strings.Trim(cmd, "`'")})
		text = after
	}
}

// kubectl reads kubectl and oc: files of this machine go to the cluster, and
// back. What runs there is not judged.
func (w *walker) kubectl(c *call) {
	words := c.words
	if i := slices.IndexFunc(words, func(x word) bool { return x.text == "--" && !x.dyn }); i > 0 {
		c.words = words[:i] // the rest is the container's
	}
	c.quiet = true
	w.options(c, c.prog.Options, c.prog.Style)
	c.words = words
	w.lowerTo(c, policy.Unknown)
	for _, o := range c.opts {
		switch {
		case !o.has:
		case o.names == "f,filename":
			w.manifest(c, o.val)
		case o.names == "from-file":
			x := o.val
			if _, name, ok := strings.Cut(x.text, "="); ok && !x.dyn {
				x.text = name
			}
			w.role(c, programs.ReadTree, x)
		case o.names == "o,output":
			if _, name, ok := strings.Cut(o.val.text, "-file="); ok {
				w.role(c, programs.Read, word{text: name})
			}
		}
	}
	if len(c.args) == 0 {
		return
	}
	switch c.args[0].text {
	case "cp":
		w.far(c, c.args[1:])
	case "exec", "debug", "attach", "run":
		c.opaque(w, "what runs in the cluster is not known")
	case "port-forward", "proxy", "expose":
		c.opaque(w, "it opens a way into the cluster")
	}
}

// manifest lists a file or an address that is applied.
func (w *walker) manifest(c *call, x word) {
	switch {
	case x.text == "-" && !x.dyn:
	case strings.Contains(x.text, "://"):
		w.address(c, x)
	default:
		w.role(c, programs.ReadTree, x)
	}
}

// far lists what a copy reads and writes here; a name with a colon is
// elsewhere.
func (w *walker) far(c *call, args []word) {
	for i, x := range args {
		switch {
		case strings.Contains(x.text, ":") || x.text == "-":
		case i == len(args)-1:
			w.role(c, programs.Write, x)
		default:
			w.role(c, programs.ReadTree, x)
		}
	}
}

// helm reads helm: values and charts are files or addresses.
func (w *walker) helm(c *call) {
	w.options(c, c.prog.Options, c.prog.Style)
	for _, o := range c.opts {
		switch {
		case o.names == "f,values" && o.has:
			w.manifest(c, o.val)
		case o.names == "set-file" && o.has:
			for pair := range strings.SplitSeq(o.val.text, ",") {
				if _, name, ok := strings.Cut(pair, "="); ok {
					w.role(c, programs.Read, word{text: name, dyn: o.val.dyn})
				}
			}
		}
	}
	d := *c
	d.words = append([]word{c.words[0]}, c.args...)
	w.unknownFiles(&d)
	for i, x := range c.args {
		switch {
		case strings.Contains(x.text, "://"):
			w.address(c, x)
		case i == 0 && x.text == "plugin" && len(c.args) > 1 && c.args[1].text != "list":
			c.opaque(w, "a plugin is a program")
		}
	}
}

// yq reads yq: the expression may load files, and -i changes them.
func (w *walker) yq(c *call) {
	w.options(c, c.prog.Options, c.prog.Style)
	w.lowerTo(c, policy.Unknown)
	role := programs.Read
	if c.given("i") {
		role = programs.Write
	}
	args := c.args
	if len(args) > 0 && (args[0].text == "eval" || args[0].text == "e" || args[0].text == "eval-all" || args[0].text == "ea") {
		args = args[1:]
	}
	for i, x := range args {
		if i == 0 && !c.given("from-file") && !w.exists(x.text) {
			w.loads(c, x)
			continue
		}
		w.role(c, role, x)
	}
	if v, ok := c.optionValue("expression"); ok {
		w.loads(c, v)
	}
	if c.given("s") {
		c.opaque(w, "the names of what it writes come from the data")
	}
}

// loads lists the files that an expression of yq loads.
func (w *walker) loads(c *call, x word) {
	if x.dyn {
		c.opaque(w, "an expression that is not known before it runs")
		return
	}
	rest := x.text
	for {
		_, after, ok := strings.Cut(rest, "load")
		if !ok {
			break
		}
		rest = after
		_, arg, ok := strings.Cut(after, "(")
		if !ok {
			break
		}
		if name, found := strings.CutPrefix(strings.TrimSpace(arg), `"`); found {
			name, _, _ = strings.Cut(name, `"`)
			w.role(c, programs.Read, word{text: name})
			continue
		}
		c.opaque(w, "a file that the data names")
	}
	if strings.Contains(x.text, "system(") {
		c.opaque(w, "an expression that runs a command")
	}
}

// imageFormats are the prefixes of ImageMagick that mean a file of that kind.
const imageFormats = " apng avif bmp bmp3 gif heic ico jpeg jpg jp2 pbm pgm png png8 png24 png32 pnm ppm psd tga tif tiff webp xbm xpm "

// magick reads the programs of ImageMagick: a name may have a prefix that
// reads, reaches, runs or deletes something else.
func (w *walker) magick(c *call) {
	args := c.words[1:]
	if c.name == "magick" && len(args) > 0 && isMagick(args[0].text) {
		args = args[1:]
	}
	all := c.name == "mogrify" || len(c.words) > 1 && c.words[1].text == "mogrify"
	reads := c.name == "identify" || len(c.words) > 1 && c.words[1].text == "identify"
	for i, x := range args {
		t := x.text
		switch {
		case strings.HasPrefix(t, "-") || strings.HasPrefix(t, "+"):
			if t == "-write" && i+1 < len(args) {
				w.image(c, args[i+1], true)
			}
			if t == "-script" || t == "-path" {
				c.opaque(w, "its option "+t+" runs or writes something else")
			}
		case t == "(" || t == ")" || x.dyn && x.lead == "":
			if x.dyn {
				c.opaque(w, "a name that is not known before it runs")
			}
		case i > 0 && strings.HasPrefix(args[i-1].text, "-") && !strings.ContainsAny(t, ":@/") && !w.exists(t):
			// the value of an option
		default:
			w.image(c, x, !reads && (all || i == len(args)-1))
		}
	}
}

func isMagick(name string) bool {
	r, _ := programs.Lookup(name)
	return r != nil && r.Read == programs.ReadMagick
}

// image lists one name of ImageMagick's.
func (w *walker) image(c *call, x word, writes bool) {
	role := programs.Read
	if writes {
		role = programs.Write
	}
	name, _, _ := strings.Cut(x.text, "[")
	prefix, rest, ok := strings.Cut(name, ":")
	prefix = strings.ToLower(prefix)
	switch {
	case x.dyn:
		w.role(c, role, x)
	case strings.HasPrefix(name, "@"):
		c.opaque(w, "names or text stand in a file")
		w.role(c, programs.Read, word{text: name[1:]})
	case !ok || len(prefix) < 2:
		w.role(c, role, word{text: name})
	case strings.HasPrefix(rest, "//"):
		w.address(c, word{text: name})
	case strings.Contains(imageFormats, " "+prefix+" "):
		w.role(c, role, word{text: rest})
	default:
		c.opaque(w, "the prefix "+cut(prefix)+": reads, runs or deletes something else")
		rest = strings.TrimPrefix(rest, "@")
		if prefix == "ephemeral" {
			w.role(c, programs.Delete, word{text: rest})
		} else if rest != "" && (pathLike(rest) || w.exists(rest)) {
			w.role(c, role, word{text: rest})
		}
	}
}

// mediaFlags are the options of ffmpeg and its kin that take no value.
const mediaFlags = " y n an vn sn dn hide_banner nostdin nostats stats shortest re version h help L formats codecs encoders decoders filters protocols pix_fmts buildconf stream_loop? benchmark copyts start_at_zero autorotate noautorotate noaccurate_seek accurate_seek debug_ts xerror ignore_unknown copy_unknown report show_format show_streams show_packets show_frames show_error show_chapters show_programs pretty unit byte_binary_prefix prefix autoexit nodisp fs "

// media reads ffmpeg, ffprobe and ffplay: a name may be an address, or stand
// for several.
func (w *walker) media(c *call) {
	args := c.words[1:]
	for i := 0; i < len(args); i++ {
		x := args[i]
		name, isOpt := strings.CutPrefix(x.text, "-")
		switch {
		case x.dyn:
			if x.option() {
				c.opaque(w, "a word that is not known may be an option")
			}
			w.stream(c, x, c.name == "ffmpeg")
		case !isOpt || name == "":
			w.stream(c, x, c.name == "ffmpeg")
		case strings.Contains(mediaFlags, " "+name+" "):
			if name == "report" {
				c.opaque(w, "its option -report writes a file")
			}
		default:
			if i++; i < len(args) {
				w.mediaOption(c, strings.SplitN(name, ":", 2)[0], args[i])
			}
		}
	}
}

func (w *walker) mediaOption(c *call, name string, x word) {
	switch name {
	case "i":
		w.stream(c, x, false)
	case "f":
		if x.text == "concat" || x.text == "tee" || x.text == "lavfi" || x.dyn {
			c.opaque(w, "a format whose data names files")
		}
	case "filter_script", "filter_complex_script", "fpre", "vpre", "apre", "spre", "attach", "passlogfile", "protocol_whitelist", "safe", "dump_attachment", "progress", "sdp_file", "vstats_file", "init_hw_device":
		c.opaque(w, "its option -"+name+" reads, writes or reaches something else")
		if pathLike(x.text) {
			w.maybeWritten(c, x.text)
		}
	case "vf", "af", "filter", "filter_complex", "lavfi":
		if x.dyn || strings.Contains(x.text, "movie") || strings.Contains(x.text, "file") || strings.Contains(x.text, "subtitles") || strings.Contains(x.text, "ass=") || strings.Contains(x.text, "ladspa") || strings.Contains(x.text, "zmq") || strings.Contains(x.text, "lut3d") || strings.Contains(x.text, "arnndn") || strings.Contains(x.text, "sendcmd") {
			c.opaque(w, "a filter that names files")
		}
	}
}

// stream lists one input or output of ffmpeg's.
func (w *walker) stream(c *call, x word, writes bool) {
	role := programs.Read
	if writes {
		role = programs.Write
	}
	scheme, rest, ok := strings.Cut(x.text, ":")
	switch {
	case x.dyn || !ok || strings.ContainsAny(scheme, "/. "):
		if x.text != "-" {
			w.role(c, role, x)
		}
	case scheme == "file":
		w.role(c, role, word{text: strings.TrimPrefix(rest, "//")})
	case scheme == "pipe":
	case scheme == "concat":
		for part := range strings.SplitSeq(rest, "|") {
			w.stream(c, word{text: part}, writes)
		}
	case strings.HasPrefix(rest, "//"):
		w.address(c, x)
	default:
		c.opaque(w, "the protocol "+cut(scheme)+" reads or reaches something else")
		if i := strings.IndexByte(x.text, '/'); i >= 0 {
			w.role(c, role, word{text: x.text[i:]})
		}
	}
}

// cmake reads cmake: -E makes it a tool for files, -P runs a script.
func (w *walker) cmake(c *call) {
	if len(c.words) < 3 || c.words[1].text != "-E" {
		w.options(c, c.prog.Options, c.prog.Style)
		w.operands(c, "may*")
		return
	}
	sub, args := c.words[2].text, c.words[3:]
	roles := ""
	switch sub {
	case "rm", "remove", "remove_directory":
		roles = "deletetree*"
		if slices.ContainsFunc(args, func(x word) bool { return strings.HasPrefix(x.text, "-") && strings.Contains(x.text, "f") }) || sub != "rm" {
			c.danger(w, "deletes without asking")
		}
	case "copy", "copy_if_different", "copy_directory", "copy_directory_if_different":
		roles = "readtree* write"
	case "rename":
		roles = "deletetree write"
	case "make_directory":
		roles = "create*"
	case "touch", "touch_nocreate":
		roles = "write*"
	case "cat", "compare_files", "md5sum", "sha1sum", "sha224sum", "sha256sum", "sha384sum", "sha512sum":
		roles = "read*"
	case "create_symlink", "create_hardlink":
		roles = "read create"
	case "env":
		for len(args) > 0 && (strings.HasPrefix(args[0].text, "-") || strings.Contains(args[0].text, "=")) {
			args = args[1:]
		}
		w.inner(c, args)
		c.opaque(w, "it changes the environment of what it runs")
		return
	case "time":
		w.inner(c, args)
		return
	case "chdir":
		if len(args) > 1 {
			w.move(args[0])
			w.inner(c, args[1:])
		}
		return
	case "capabilities", "echo", "echo_append", "environment", "sleep", "true", "false":
		return
	default:
		c.opaque(w, "cmake -E "+cut(sub)+" may do anything")
		w.unknownFiles(c)
		return
	}
	c.args = slices.DeleteFunc(slices.Clone(args), func(x word) bool { return strings.HasPrefix(x.text, "-") && !x.dyn })
	w.operands(c, roles)
}

// cargoWatch reads cargo watch: what it runs again and again.
func (w *walker) cargoWatch(c *call, words []word) {
	d := *c
	d.words, d.opts, d.args = words, nil, nil
	end := slices.IndexFunc(words, func(x word) bool { return x.text == "--" && !x.dyn })
	if end >= 0 {
		d.words = words[:end]
	}
	w.options(&d, "s,shell:shell x,exec: C,workdir:dir w,watch:read i,ignore: d,delay: F,features: B: E,env: use-shell:opaque c,clear q,quiet postpone poll no-restart no-vcs-ignores no-dot-ignores no-ignore watch-when-idle why", programs.Loose)
	for _, o := range d.opts {
		switch {
		case o.names == "x,exec" && o.has:
			w.commandText(c, word{text: "cargo " + o.val.text, dyn: o.val.dyn})
		case o.names == "C,workdir":
			w.role(c, programs.Read, o.val)
		}
	}
	if end >= 0 && end+1 < len(words) {
		w.inner(c, words[end+1:])
	}
}

// opener reads programs that hand a file or address to whatever opens it.
func (w *walker) opener(c *call) {
	c.opaque(w, "another program opens what it is given")
	for _, x := range c.words[1:] {
		switch {
		case strings.HasPrefix(x.text, "-"):
		case strings.Contains(x.text, "://"):
			w.address(c, x)
		case x.dyn || pathLike(x.text) || w.exists(x.text):
			w.role(c, programs.Read, x)
		}
	}
}
