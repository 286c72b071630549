package programs

import (
	"path"
	"strings"
)

// docker reads docker and its kin. What runs in a container is not judged, but
// what of this machine it is given is.
func (c *Call) docker() {
	c.Quiet = true
	sub := ""
	for _, x := range c.Words[1:] {
		if !x.Dynamic && Has("run create exec build cp save export load import compose volume plugin context stack service swarm", x.Text) {
			sub = x.Text
			break
		}
	}
	all := c.Words
	if sub == "run" || sub == "create" || sub == "exec" {
		c.Words = append([]Word{all[0]}, c.dockerFlags(all[1:], c.Record.Options)...)
	}
	c.parse()
	c.Words = all
	for _, o := range c.Given {
		c.dockerOption(sub, o)
	}
	c.dockerOperands(sub)
}

// dockerFlags gives the words up to the image: what follows is the container's.
func (c *Call) dockerFlags(words []Word, options string) []Word {
	rs := Options(options)
	started := false
	for i := 0; i < len(words); i++ {
		x := words[i]
		t := x.Text
		switch {
		case x.Dynamic && !strings.HasPrefix(x.Lead, "-"):
			if started {
				return words[:i]
			}
		case !strings.HasPrefix(t, "-") && !x.Dynamic:
			if started {
				return words[:i]
			}
			started = t == "run" || t == "create" || t == "exec"
		case strings.HasPrefix(t, "--"):
			if r := exact(rs, strings.TrimLeft(t, "-")); r != nil && r.Value == ':' {
				i++
			}
		default:
			if r := findOption(rs, t[len(t)-1:], false); r != nil && r.Value == ':' && t[len(t)-1] != 'i' && t[len(t)-1] != 't' {
				i++
			}
		}
	}
	return words
}

func (c *Call) dockerOption(sub string, o Given) {
	switch {
	case !o.HasValue:
	case o.Names == "v,volume":
		src, rest, ok := strings.Cut(o.Value.Text, ":")
		if o.Value.Dynamic {
			src, ok = o.Value.Lead, true
			src, rest, _ = strings.Cut(src, ":")
			if src == o.Value.Lead {
				c.opaque("what the container is given is not known before it runs")
			}
		}
		if ok {
			c.mounted(src, strings.HasSuffix(rest, ":ro") || strings.Contains(rest, ":ro,"))
		}
	case o.Names == "mount" || o.Names == "secret" || o.Names == "output" || o.Names == "o":
		if o.Value.Dynamic {
			c.opaque("what the container is given is not known before it runs")
		}
		read := o.Names == "secret" || strings.Contains(o.Value.Text, "readonly") || strings.Contains(o.Value.Text, ",ro")
		for f := range strings.SplitSeq(o.Value.Text, ",") {
			key, val, ok := strings.Cut(f, "=")
			switch key {
			case "src", "source", "dest":
				if o.Names == "secret" {
					c.does(Read, Word{Text: val})
					continue
				}
				c.mounted(val, read)
			case "device":
				c.opaque("a device of the machine")
			default:
				if !ok && (o.Names == "output" || o.Names == "o") && sub != "compose" {
					c.does(Write, o.Value)
				}
			}
		}
	case o.Names == "f,file" && (sub == "build" || sub == "compose"):
		c.does(Read, o.Value)
	}
}

// mounted lists a place of this machine that a container sees.
func (c *Call) mounted(src string, read bool) {
	if !strings.ContainsAny(src, "/~") && src != "." && src != ".." {
		return // a volume by its name
	}
	if rest, ok := strings.CutPrefix(src, "~"); ok {
		src = c.Shell.HomeVariable() + rest
	}
	role := Write
	if read {
		role = Read
	}
	if path.Base(src) == "docker.sock" {
		c.opaque("the container gets hold of the machine")
	}
	c.does(role, Word{Text: src})
}

func (c *Call) dockerOperands(sub string) {
	if len(c.Args) < 2 {
		return
	}
	args := c.Args[1:]
	switch sub {
	case "build":
		last := args[len(args)-1]
		if last.Text == "-" {
			return
		}
		if strings.Contains(last.Text, "://") || strings.HasPrefix(last.Text, "git@") {
			c.host(last)
			return
		}
		c.does(Read, last)
	case "cp":
		for i, x := range args {
			if x.Text == "cp" || strings.Contains(x.Text, ":") || x.Text == "-" {
				continue
			}
			if i == len(args)-1 {
				c.does(Write, x)
			} else {
				c.does(ReadTree, x)
			}
		}
	case "import":
		if strings.Contains(args[0].Text, "://") {
			c.host(args[0])
		} else {
			c.does(Read, args[0])
		}
	case "plugin", "context", "stack", "service", "swarm":
		if len(args) > 0 && !Has("ls list ps inspect show", args[0].Text) {
			c.opaque("docker " + sub + " may give programs the machine")
		}
	case "volume":
		if c.has("o") {
			c.opaque("a volume may be any place of the machine")
		}
	}
}
