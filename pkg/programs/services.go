package programs

import (
	"slices"
	"strings"
)

// escaped judges the shell commands in what a program with escapes is given: its
// words, and its input where that is known.
func (c *Call) escaped() {
	if c.Record.Escapes != "" {
		texts := c.Words[1:]
		if c.Shell.Stdin().Known {
			texts = append(texts[:len(texts):len(texts)], Word{Text: c.Shell.Stdin().Text})
		}
		for _, x := range texts {
			if !x.Dynamic {
				c.escapedLines(x.Text, c.Record.Escapes)
				c.databaseFiles(x.Text)
			}
		}
		return
	}
	if c.Known == "m4" && c.Shell.Stdin().Known {
		c.macros(c.Shell.Stdin().Text)
	}
}

func (c *Call) escapedLines(text, marks string) {
	for line := range strings.SplitSeq(strings.ReplaceAll(text, ";", "\n"), "\n") {
		line = strings.TrimSpace(line)
		for mark := range strings.SplitSeq(marks, "|") {
			if rest, ok := strings.CutPrefix(line, mark); ok && strings.TrimSpace(rest) != "" {
				c.opaque("a line that runs a command")
				c.Shell.Text(Word{Text: strings.TrimSpace(rest)})
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
func (c *Call) databaseFiles(text string) {
	if c.Known != "sqlite3" && c.Known != "psql" {
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
			case i == 0 && Has(databaseWrites, low):
				c.does(Write, Word{Text: next})
			case i == 0 && Has(databaseReads, low):
				c.does(Read, Word{Text: next})
			case low == "program" && c.Known == "psql":
				_, cmd, _ := strings.Cut(line, "'")
				cmd, _, _ = strings.Cut(cmd, "'")
				c.Shell.Text(Word{Text: cmd})
			case low == "attach" && strings.EqualFold(next, "database") && i+2 < len(fields):
				c.does(Write, Word{Text: strings.Trim(fields[i+2], `'"`)})
			case low == "attach":
				c.does(Write, Word{Text: next})
			}
		}
	}
}

// macros judges syscmd(TEXT) and esyscmd(TEXT) of m4.
func (c *Call) macros(text string) {
	for {
		_, rest, ok := strings.Cut(text, "syscmd(")
		if !ok {
			return
		}
		c.opaque("a macro that runs a command")
		cmd, after, _ := strings.Cut(rest, ")")
		c.Shell.Text(Word{Text: strings.Trim(cmd, "`'")})
		text = after
	}
}

// kubectl reads kubectl and oc: files of this machine go to the cluster, and
// back. What runs there is not judged.
func (c *Call) kubectl() {
	words := c.Words
	if i := slices.IndexFunc(words, func(x Word) bool { return x.Text == "--" && !x.Dynamic }); i > 0 {
		c.Words = words[:i] // the rest is the container's
	}
	c.Quiet = true
	c.parse()
	c.Words = words
	c.Shell.SetClass(Unknown)
	for _, o := range c.Given {
		switch {
		case !o.HasValue:
		case o.Names == "f,filename":
			c.manifest(o.Value)
		case o.Names == "from-file":
			x := o.Value
			if _, name, ok := strings.Cut(x.Text, "="); ok && !x.Dynamic {
				x.Text = name
			}
			c.does(ReadTree, x)
		case o.Names == "o,output":
			if _, name, ok := strings.Cut(o.Value.Text, "-file="); ok {
				c.does(Read, Word{Text: name})
			}
		}
	}
	if len(c.Args) == 0 {
		return
	}
	switch c.Args[0].Text {
	case "cp":
		c.far(c.Args[1:])
	case "exec", "debug", "attach", "run":
		c.opaque("what runs in the cluster is not known")
	case "port-forward", "proxy", "expose":
		c.opaque("it opens a way into the cluster")
	}
}

// manifest lists a file or an address that is applied.
func (c *Call) manifest(x Word) {
	switch {
	case x.Text == "-" && !x.Dynamic:
	case strings.Contains(x.Text, "://"):
		c.address(x)
	default:
		c.does(ReadTree, x)
	}
}

// far lists what a copy reads and writes here; a name with a colon is
// elsewhere.
func (c *Call) far(args []Word) {
	for i, x := range args {
		switch {
		case strings.Contains(x.Text, ":") || x.Text == "-":
		case i == len(args)-1:
			c.does(Write, x)
		default:
			c.does(ReadTree, x)
		}
	}
}

// helm reads helm: values and charts are files or addresses.
func (c *Call) helm() {
	c.parse()
	for _, o := range c.Given {
		switch {
		case o.Names == "f,values" && o.HasValue:
			c.manifest(o.Value)
		case o.Names == "set-file" && o.HasValue:
			for pair := range strings.SplitSeq(o.Value.Text, ",") {
				if _, name, ok := strings.Cut(pair, "="); ok {
					c.does(Read, Word{Text: name, Dynamic: o.Value.Dynamic})
				}
			}
		}
	}
	c.unknownFiles(c.Args)
	for i, x := range c.Args {
		switch {
		case strings.Contains(x.Text, "://"):
			c.address(x)
		case i == 0 && x.Text == "plugin" && len(c.Args) > 1 && c.Args[1].Text != "list":
			c.opaque("a plugin is a program")
		}
	}
}

// yq reads yq: the expression may load files, and -i changes them.
func (c *Call) yq() {
	c.parse()
	c.Shell.SetClass(Unknown)
	role := Read
	if c.has("i") {
		role = Write
	}
	args := c.Args
	if len(args) > 0 && (args[0].Text == "eval" || args[0].Text == "e" || args[0].Text == "eval-all" || args[0].Text == "ea") {
		args = args[1:]
	}
	for i, x := range args {
		if i == 0 && !c.has("from-file") && !c.Shell.Exists(x.Text) {
			c.loads(x)
			continue
		}
		c.does(role, x)
	}
	if v, ok := c.optionValue("expression"); ok {
		c.loads(v)
	}
	if c.has("s") {
		c.opaque("the names of what it writes come from the data")
	}
}

// loads lists the files that an expression of yq loads.
func (c *Call) loads(x Word) {
	if x.Dynamic {
		c.opaque("an expression that is not known before it runs")
		return
	}
	rest := x.Text
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
			c.does(Read, Word{Text: name})
			continue
		}
		c.opaque("a file that the data names")
	}
	if strings.Contains(x.Text, "system(") {
		c.opaque("an expression that runs a command")
	}
}

// imageFormats are the prefixes of ImageMagick that mean a file of that kind.
const imageFormats = " apng avif bmp bmp3 gif heic ico jpeg jpg jp2 pbm pgm png png8 png24 png32 pnm ppm psd tga tif tiff webp xbm xpm "

// magick reads the programs of ImageMagick: a name may have a prefix that
// reads, reaches, runs or deletes something else.
func (c *Call) magick() {
	args := c.Words[1:]
	if c.Name == "magick" && len(args) > 0 && Has(c.Record.Names, args[0].Text) {
		args = args[1:]
	}
	all := c.Name == "mogrify" || len(c.Words) > 1 && c.Words[1].Text == "mogrify"
	reads := c.Name == "identify" || len(c.Words) > 1 && c.Words[1].Text == "identify"
	for i, x := range args {
		t := x.Text
		switch {
		case strings.HasPrefix(t, "-") || strings.HasPrefix(t, "+"):
			if t == "-write" && i+1 < len(args) {
				c.image(args[i+1], true)
			}
			if t == "-script" || t == "-path" {
				c.opaque("its option " + t + " runs or writes something else")
			}
		case t == "(" || t == ")" || x.Dynamic && x.Lead == "":
			if x.Dynamic {
				c.opaque("a name that is not known before it runs")
			}
		case i > 0 && strings.HasPrefix(args[i-1].Text, "-") && !strings.ContainsAny(t, ":@/") && !c.Shell.Exists(t):
			// the value of an option
		default:
			c.image(x, !reads && (all || i == len(args)-1))
		}
	}
}

// image lists one name of ImageMagick's.
func (c *Call) image(x Word, writes bool) {
	role := Read
	if writes {
		role = Write
	}
	name, _, _ := strings.Cut(x.Text, "[")
	prefix, rest, ok := strings.Cut(name, ":")
	prefix = strings.ToLower(prefix)
	switch {
	case x.Dynamic:
		c.does(role, x)
	case strings.HasPrefix(name, "@"):
		c.opaque("names or text stand in a file")
		c.does(Read, Word{Text: name[1:]})
	case !ok || len(prefix) < 2:
		c.does(role, Word{Text: name})
	case strings.HasPrefix(rest, "//"):
		c.address(Word{Text: name})
	case Has(imageFormats, prefix):
		c.does(role, Word{Text: rest})
	default:
		c.opaque("the prefix " + Cut(prefix) + ": reads, runs or deletes something else")
		rest = strings.TrimPrefix(rest, "@")
		if prefix == "ephemeral" {
			c.does(Delete, Word{Text: rest})
		} else if rest != "" && (pathLike(rest) || c.Shell.Exists(rest)) {
			c.does(role, Word{Text: rest})
		}
	}
}

// mediaFlags are the options of ffmpeg and its kin that take no value.
const mediaFlags = " y n an vn sn dn hide_banner nostdin nostats stats shortest re version h help L formats codecs encoders decoders filters protocols pix_fmts buildconf stream_loop? benchmark copyts start_at_zero autorotate noautorotate noaccurate_seek accurate_seek debug_ts xerror ignore_unknown copy_unknown report show_format show_streams show_packets show_frames show_error show_chapters show_programs pretty unit byte_binary_prefix prefix autoexit nodisp fs "

// media reads ffmpeg, ffprobe and ffplay: a name may be an address, or stand
// for several.
func (c *Call) media() {
	args := c.Words[1:]
	for i := 0; i < len(args); i++ {
		x := args[i]
		name, isOpt := strings.CutPrefix(x.Text, "-")
		switch {
		case x.Dynamic:
			if x.MayBeOption() {
				c.opaque("a word that is not known may be an option")
			}
			c.stream(x, c.Name == "ffmpeg")
		case !isOpt || name == "":
			c.stream(x, c.Name == "ffmpeg")
		case Has(mediaFlags, name):
			if name == "report" {
				c.opaque("its option -report writes a file")
			}
		default:
			if i++; i < len(args) {
				c.mediaOption(strings.SplitN(name, ":", 2)[0], args[i])
			}
		}
	}
}

func (c *Call) mediaOption(name string, x Word) {
	switch name {
	case "i":
		c.stream(x, false)
	case "f":
		if x.Text == "concat" || x.Text == "tee" || x.Text == "lavfi" || x.Dynamic {
			c.opaque("a format whose data names files")
		}
	case "filter_script", "filter_complex_script", "fpre", "vpre", "apre", "spre", "attach", "passlogfile", "protocol_whitelist", "safe", "dump_attachment", "progress", "sdp_file", "vstats_file", "init_hw_device":
		c.opaque("its option -" + name + " reads, writes or reaches something else")
		if pathLike(x.Text) {
			c.file(May, Word{Text: x.Text})
		}
	case "vf", "af", "filter", "filter_complex", "lavfi":
		if x.Dynamic || strings.Contains(x.Text, "movie") || strings.Contains(x.Text, "file") || strings.Contains(x.Text, "subtitles") || strings.Contains(x.Text, "ass=") || strings.Contains(x.Text, "ladspa") || strings.Contains(x.Text, "zmq") || strings.Contains(x.Text, "lut3d") || strings.Contains(x.Text, "arnndn") || strings.Contains(x.Text, "sendcmd") {
			c.opaque("a filter that names files")
		}
	}
}

// stream lists one input or output of ffmpeg's.
func (c *Call) stream(x Word, writes bool) {
	role := Read
	if writes {
		role = Write
	}
	scheme, rest, ok := strings.Cut(x.Text, ":")
	switch {
	case x.Dynamic || !ok || strings.ContainsAny(scheme, "/. "):
		if x.Text != "-" {
			c.does(role, x)
		}
	case scheme == "file":
		c.does(role, Word{Text: strings.TrimPrefix(rest, "//")})
	case scheme == "pipe":
	case scheme == "concat":
		for part := range strings.SplitSeq(rest, "|") {
			c.stream(Word{Text: part}, writes)
		}
	case strings.HasPrefix(rest, "//"):
		c.address(x)
	default:
		c.opaque("the protocol " + Cut(scheme) + " reads or reaches something else")
		if i := strings.IndexByte(x.Text, '/'); i >= 0 {
			c.does(role, Word{Text: x.Text[i:]})
		}
	}
}

// cmake reads cmake: -E makes it a tool for files, -P runs a script.
func (c *Call) cmake() {
	if len(c.Words) < 3 || c.Words[1].Text != "-E" {
		c.parse()
		c.operands("may*")
		return
	}
	sub, args := c.Words[2].Text, c.Words[3:]
	roles := ""
	switch sub {
	case "rm", "remove", "remove_directory":
		roles = "deletetree*"
		if slices.ContainsFunc(args, func(x Word) bool { return strings.HasPrefix(x.Text, "-") && strings.Contains(x.Text, "f") }) || sub != "rm" {
			c.danger("deletes without asking")
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
		for len(args) > 0 && (strings.HasPrefix(args[0].Text, "-") || strings.Contains(args[0].Text, "=")) {
			args = args[1:]
		}
		c.start(args)
		c.opaque("it changes the environment of what it runs")
		return
	case "time":
		c.start(args)
		return
	case "chdir":
		if len(args) > 1 {
			c.Shell.Move(args[0])
			c.start(args[1:])
		}
		return
	case "capabilities", "echo", "echo_append", "environment", "sleep", "true", "false":
		return
	default:
		c.opaque("cmake -E " + Cut(sub) + " may do anything")
		c.unknownFiles(c.Words[1:])
		return
	}
	c.Args = slices.DeleteFunc(slices.Clone(args), func(x Word) bool { return strings.HasPrefix(x.Text, "-") && !x.Dynamic })
	c.operands(roles)
}

// cargoWatch reads cargo watch: what it runs again and again.
func (c *Call) cargoWatch(words []Word) {
	d := *c
	d.Words, d.Given, d.Args = words, nil, nil
	end := slices.IndexFunc(words, func(x Word) bool { return x.Text == "--" && !x.Dynamic })
	if end >= 0 {
		d.Words = words[:end]
	}
	d.options("s,shell:shell x,exec: C,workdir:dir w,watch:read i,ignore: d,delay: F,features: B: E,env: use-shell:opaque c,clear q,quiet postpone poll no-restart no-vcs-ignores no-dot-ignores no-ignore watch-when-idle why", Loose)
	for _, o := range d.Given {
		switch {
		case o.Names == "x,exec" && o.HasValue:
			c.commandText(Word{Text: "cargo " + o.Value.Text, Dynamic: o.Value.Dynamic})
		case o.Names == "C,workdir":
			c.does(Read, o.Value)
		}
	}
	if end >= 0 && end+1 < len(words) {
		c.start(words[end+1:])
	}
}

// opener reads programs that hand a file or address to whatever opens it.
func (c *Call) opener() {
	c.opaque("another program opens what it is given")
	for _, x := range c.Words[1:] {
		switch {
		case strings.HasPrefix(x.Text, "-"):
		case strings.Contains(x.Text, "://"):
			c.address(x)
		case x.Dynamic || pathLike(x.Text) || c.Shell.Exists(x.Text):
			c.does(Read, x)
		}
	}
}
