package shellparse

import (
	"path"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/programs"
)

// docker reads docker and its kin. What runs in a container is not judged, but
// what of this machine it is given is.
func (w *walker) docker(c *call) {
	c.quiet = true
	sub := ""
	for _, x := range c.words[1:] {
		if !x.dyn && strings.Contains(" run create exec build cp save export load import compose volume plugin context stack service swarm ", " "+x.text+" ") {
			sub = x.text
			break
		}
	}
	all := c.words
	if sub == "run" || sub == "create" || sub == "exec" {
		c.words = append([]word{all[0]}, w.dockerFlags(all[1:], c.prog.Options)...)
	}
	w.options(c, c.prog.Options, c.prog.Style)
	c.words = all
	for _, o := range c.opts {
		w.dockerOption(c, sub, o)
	}
	w.dockerOperands(c, sub)
}

// dockerFlags gives the words up to the image: what follows is the container's.
func (w *walker) dockerFlags(words []word, options string) []word {
	rs := programs.Options(options)
	started := false
	for i := 0; i < len(words); i++ {
		x := words[i]
		t := x.text
		switch {
		case x.dyn && !strings.HasPrefix(x.lead, "-"):
			if started {
				return words[:i]
			}
		case !strings.HasPrefix(t, "-") && !x.dyn:
			if started {
				return words[:i]
			}
			started = t == "run" || t == "create" || t == "exec"
		case strings.HasPrefix(t, "--"):
			if r := exact(rs, strings.TrimLeft(t, "-")); r != nil && r.Value == ':' {
				i++
			}
		default:
			if r := find(rs, t[len(t)-1:], false); r != nil && r.Value == ':' && t[len(t)-1] != 'i' && t[len(t)-1] != 't' {
				i++
			}
		}
	}
	return words
}

func (w *walker) dockerOption(c *call, sub string, o option) {
	switch {
	case !o.has:
	case o.names == "v,volume":
		src, rest, ok := strings.Cut(o.val.text, ":")
		if o.val.dyn {
			src, ok = o.val.lead, true
			src, rest, _ = strings.Cut(src, ":")
			if src == o.val.lead {
				c.opaque(w, "what the container is given is not known before it runs")
			}
		}
		if ok {
			w.mounted(c, src, strings.HasSuffix(rest, ":ro") || strings.Contains(rest, ":ro,"))
		}
	case o.names == "mount" || o.names == "secret" || o.names == "output" || o.names == "o":
		if o.val.dyn {
			c.opaque(w, "what the container is given is not known before it runs")
		}
		read := o.names == "secret" || strings.Contains(o.val.text, "readonly") || strings.Contains(o.val.text, ",ro")
		for f := range strings.SplitSeq(o.val.text, ",") {
			key, val, ok := strings.Cut(f, "=")
			switch key {
			case "src", "source", "dest":
				if o.names == "secret" {
					w.role(c, programs.Read, word{text: val})
					continue
				}
				w.mounted(c, val, read)
			case "device":
				c.opaque(w, "a device of the machine")
			default:
				if !ok && (o.names == "output" || o.names == "o") && sub != "compose" {
					w.role(c, programs.Write, o.val)
				}
			}
		}
	case o.names == "f,file" && (sub == "build" || sub == "compose"):
		w.role(c, programs.Read, o.val)
	}
}

// mounted lists a place of this machine that a container sees.
func (w *walker) mounted(c *call, src string, read bool) {
	if !strings.ContainsAny(src, "/~") && src != "." && src != ".." {
		return // a volume by its name
	}
	if rest, ok := strings.CutPrefix(src, "~"); ok {
		src = w.home() + rest
	}
	role := programs.Write
	if read {
		role = programs.Read
	}
	if path.Base(src) == "docker.sock" {
		c.opaque(w, "the container gets hold of the machine")
	}
	w.role(c, role, word{text: src})
}

func (w *walker) dockerOperands(c *call, sub string) {
	if len(c.args) < 2 {
		return
	}
	args := c.args[1:]
	switch sub {
	case "build":
		last := args[len(args)-1]
		if last.text == "-" {
			return
		}
		if strings.Contains(last.text, "://") || strings.HasPrefix(last.text, "git@") {
			w.host(c, last)
			return
		}
		w.role(c, programs.Read, last)
	case "cp":
		for i, x := range args {
			if x.text == "cp" || strings.Contains(x.text, ":") || x.text == "-" {
				continue
			}
			if i == len(args)-1 {
				w.role(c, programs.Write, x)
			} else {
				w.role(c, programs.ReadTree, x)
			}
		}
	case "import":
		if strings.Contains(args[0].text, "://") {
			w.host(c, args[0])
		} else {
			w.role(c, programs.Read, args[0])
		}
	case "plugin", "context", "stack", "service", "swarm":
		if len(args) > 0 && !strings.Contains(" ls list ps inspect show ", " "+args[0].text+" ") {
			c.opaque(w, "docker "+sub+" may give programs the machine")
		}
	case "volume":
		if c.given("o") {
			c.opaque(w, "a volume may be any place of the machine")
		}
	}
}
