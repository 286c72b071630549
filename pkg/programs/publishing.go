package programs

import (
	"slices"
	"strings"
)

// switches are options that take no value with any program.
const switches = "silent quiet verbose debug version help yes json offline force recursive workspaces parallel stream if-present non-interactive no-input"

// mayTake reports whether an option, as it is written, may have the next word for its value.
func mayTake(x Word) bool {
	t := x.Text
	if x.Dynamic {
		t = x.Lead
	}
	if !strings.HasPrefix(t, "-") || t == "-" || t == "--" || strings.Contains(t, "=") {
		return false
	}
	name, long := strings.CutPrefix(t, "--")
	return !long || !Has(switches, name) && !strings.HasPrefix(name, "no-")
}

// subcommands are the words that may be the subcommand: the first operand, and where it stands behind an
// option of which it is not known whether it takes a value, the next one as well.
func (c *Call) subcommands() (words []string) {
	valued := ""
	if c.Record != nil {
		valued = c.Record.Valued
	}
	for i := 1; i < len(c.Words); i++ {
		x := c.Words[i]
		switch {
		case Has(valued, x.Text):
			i++
		case x.Dynamic || strings.HasPrefix(x.Text, "-") || c.Known == "cargo" && strings.HasPrefix(x.Text, "+"):
		default:
			if words = append(words, x.Text); !mayTake(c.Words[i-1]) {
				return words
			}
		}
	}
	return words
}

// nested are the first operands of a program made with cobra, which takes the word behind an option for its
// value wherever the option stands before a subcommand (command.go of cobra, stripFlags).
func (c *Call) nested(n int) (words []string) {
	for i := 1; i < len(c.Words) && len(words) < n; i++ {
		switch t := c.Words[i].Text; {
		case c.Words[i].Dynamic || !strings.HasPrefix(t, "-"):
			words = append(words, t)
		case strings.Contains(t, "=") || Has("--help -h --version --", t):
		case strings.HasPrefix(t, "--") || len(t) == 2:
			i++
		}
	}
	return words
}

// asksFor is switched, where a word that may be the value of an option does not count.
func (c *Call) asksFor(names string) bool {
	words := slices.Clone(c.Words[:1])
	for i, x := range c.Words[1:] {
		if strings.HasPrefix(x.Text, "-") && x.Text != "--" && mayTake(c.Words[i]) && anyOption([]Word{x}, names) {
			continue
		}
		words = append(words, x)
	}
	return switched(words[1:], names)
}

// sortedBy sorts the words of a call into options and operands by a table of its own, and has none of them do anything.
func (c *Call) sortedBy(table string) *Call {
	d := *c
	d.Given, d.Args, d.Quiet = nil, nil, true
	d.options(table, Pure)
	return &d
}

// sends reports whether gh api gives a method that changes something, or data without a method.
func (c *Call) sends() bool {
	d := c.sortedBy("X,method: F,field: f,raw-field: H,header: i,include p,preview: q,jq: t,template: cache: hostname: input: paginate silent slurp verbose help")
	if m, ok := d.optionValue("method"); ok {
		return m.Dynamic || !Has("GET HEAD OPTIONS TRACE", strings.ToUpper(m.Text))
	}
	return d.has("field", "raw-field", "input")
}

// doesTask reports whether one of the tasks that sbt is given publishes: several stand in a word, parted by
// semicolons, and before a task its project and scope.
func (c *Call) doesTask() bool {
	for _, x := range c.Words[1:] {
		for command := range strings.SplitSeq(x.Text, ";") {
			words := strings.Fields(strings.ReplaceAll(command, " / ", "/"))
			if x.Dynamic || len(words) > 0 && Has("set show inspect help eval print", words[0]) {
				continue
			}
			for _, w := range words {
				task := strings.TrimLeft(w[strings.LastIndexAny(w, "/:")+1:], "+^")
				if oneOf(task, "publish publishSigned publishAllSigned ci-release release sonatype*") {
					return true
				}
			}
		}
	}
	return false
}

// doesGoal reports whether Maven is given one of these goals, whichever way its plugin is named:
// deploy:deploy-file is also org.apache.maven.plugins:maven-deploy-plugin:3.1.1:deploy-file@id.
func (c *Call) doesGoal(goals string) bool {
	return slices.ContainsFunc(c.Words[1:], func(x Word) bool {
		goal, _, _ := strings.Cut(x.Text, "@")
		if parts := strings.Split(goal, ":"); len(parts) > 2 && !strings.HasPrefix(goal, "-") {
			plugin := strings.TrimSuffix(strings.TrimSuffix(strings.TrimPrefix(parts[1], "maven-"), "-plugin"), "-maven")
			goal = plugin + ":" + parts[len(parts)-1]
		}
		return !x.Dynamic && oneOf(goal, goals)
	})
}

// doesOne reports whether one of the tasks of mix or lein publishes: do runs several, parted by commas or +.
func (c *Call) doesOne() bool {
	const publishing = "hex.publish hex.retire hex.owner hex.organization deploy release"
	words := c.verbs()
	if len(words) > 2 && Has("with-profile with-profiles", words[0]) {
		words = words[2:]
	}
	if len(words) == 0 || words[0] != "do" {
		words = words[:min(len(words), 1)]
	}
	return slices.ContainsFunc(words, func(w string) bool {
		return oneOf(strings.Trim(w, ","), publishing) && (c.Name == "lein" || strings.HasPrefix(w, "hex."))
	})
}

// changesFar reports whether svn changes the repository itself: what it is given an address of.
func (c *Call) changesFar() bool {
	d := c.sortedBy("m,message: F,file: r,revision: username: password: encoding: config-dir: config-option: with-revprop: c,change: depth: set-depth: editor-cmd: targets: changelist,cl: revprop")
	if len(d.Args) == 0 {
		return false
	}
	verb, args := d.Args[0].Text, d.Args[1:]
	if Has("copy cp", verb) && len(args) > 0 {
		args = args[len(args)-1:]
	}
	return Has("mkdir delete del remove rm copy cp move mv rename ren propset pset ps propdel pdel pd propedit pedit pe", verb) &&
		(d.has("revprop") || slices.ContainsFunc(args, func(x Word) bool {
			return strings.Contains(x.Text, "://") || strings.HasPrefix(x.Text, "^/") || x.Dynamic && verb[0] != 'p'
		}))
}

// exports reports whether a build of an image has an output, or a cache, in a registry.
func (c *Call) exports() bool {
	for i, x := range c.Words[1:] {
		if x.Dynamic || !strings.Contains(x.Text, "type=") || c.Words[i].Text == "--cache-from" || strings.HasPrefix(x.Text, "--cache-from=") {
			continue
		}
		for field := range strings.SplitSeq(x.Text, ",") {
			field = strings.Trim(field, `"`)
			value, pushes := strings.CutPrefix(field, "push=")
			if strings.HasSuffix(field, "type=registry") || pushes && !Has("false f 0", strings.ToLower(value)) {
				return true
			}
		}
	}
	return false
}
