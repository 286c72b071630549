package programs

import (
	"slices"
	"strings"
)

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
	if c.yqShows(args) {
		c.Shell.SetClass(ReadOnly)
	}
}

// yqShows reports whether yq prints what lies at a path in its files, by options that do nothing
// else: nothing that is called by name with words of its own, and no variables.
func (c *Call) yqShows(args []Word) bool {
	const plain = variableName + ".[]\"| ,-"
	for _, x := range c.Words[1:] {
		if x.Dynamic || strings.HasPrefix(x.Text, "-") && !Has("-r -e -P -C -M -N -c -y -o -p -ojson -oyaml -o=json -o=yaml -pjson -pyaml -p=json -p=yaml --prettyPrint", x.Text) {
			return false
		}
	}
	return len(args) > 0 && !args[0].Dynamic && strings.Trim(args[0].Text, plain) == "" &&
		!strings.Contains(args[0].Text, "env") && !strings.HasPrefix(args[0].Text, "-")
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
