package programs

import (
	"slices"
	"strings"
)

// gluedFiles are options of compilers and assemblers that name a file behind "=", and what they do with it.
var gluedFiles = [...]struct {
	options string
	effect  Effect // "" for a program, or what is loaded into this one
}{
	{"fdump-* fopt-info* fprofile-dir fprofile-generate fprofile-note fprofile-update-path fdeps-file fltrans-output-list", Write},
	{"foptimization-record-file fcrash-diagnostics-dir ftime-trace fprofile-instr-generate fcs-profile-generate fmodules-cache-path", Write},
	{"fdiagnostics-add-output fdiagnostics-set-output", Write}, // sarif:file=NAME
	{"fauto-profile fprofile-instr-use fprofile-sample-use fsanitize-ignorelist fsanitize-blacklist fxray-* fembed-offload-object", Read},
	{"fthinlto-index fresolution fmodule-map-file fmodule-file fself-test", Read},
	{"fpass-plugin fmodule-mapper", ""},
}

// compiler reads compilers and assemblers.
func (c *Call) compiler() {
	c.parse()
	c.operands(c.Record.Operands)
	for _, x := range c.Words[1:] {
		t := x.Text
		if x.Dynamic {
			t = x.Lead
		}
		if strings.HasPrefix(t, "-Wl,") || strings.HasPrefix(t, "-Wa,") || strings.HasPrefix(t, "-Wp,") {
			c.opaque("its option " + t[:3] + " hands on what is not read")
		}
		name, value, ok := strings.Cut(t, "=")
		if !ok || !strings.HasPrefix(t, "-") {
			continue
		}
		if _, file, named := strings.Cut(value, "file="); named {
			value = file
		}
		option := strings.TrimLeft(name, "-")
		for _, f := range gluedFiles {
			switch {
			case !oneOf(option, f.options):
			case f.effect == "":
				c.opaque("its option " + Cut(name) + " runs or loads something else")
			default:
				c.does(f.effect, after(x, t[:len(t)-len(value)]))
			}
		}
		if c.Known == "as" && strings.HasPrefix(name, "-a") { // a listing
			c.does(Write, after(x, name+"="))
		}
	}
	c.Shell.SetClass(Unknown)
}

// objectCopy reads objcopy: without a second file it changes the first, and sections go to
// and come from files.
func (c *Call) objectCopy() {
	c.parse()
	for _, o := range c.Given {
		_, file, _ := strings.Cut(o.Value.Text, "=")
		x := Word{Text: file, Dynamic: o.Value.Dynamic}
		switch {
		case hasName(o.Names, "dump-section"):
			c.does(Write, x)
		case hasName(o.Names, "add-section"), hasName(o.Names, "update-section"):
			c.does(Read, x)
		}
	}
	if len(c.Args) == 1 {
		c.does(Write, c.Args[0])
	} else {
		c.operands("read write")
	}
	c.Shell.SetClass(Unknown)
}

// yamllint reads yamllint: its configuration may be based on another file, of which it shows
// what it does not understand.
func (c *Call) yamllint() {
	c.parse()
	c.operands(c.Record.Operands)
	var texts []string
	if d, ok := c.optionValue("config-data"); ok {
		if d.Dynamic {
			c.opaque("its configuration is not known before it runs")
		}
		texts = append(texts, d.Text)
	}
	names := []Word{{Text: ".yamllint"}, {Text: ".yamllint.yaml"}, {Text: ".yamllint.yml"}}
	if f, ok := c.optionValue("config-file"); ok {
		names = []Word{f}
	}
	for _, name := range names {
		for _, path := range c.paths(name) {
			if c.Shell.Writes(name.Text) {
				c.opaque("its configuration is written before it runs")
			}
			if b, err := c.Shell.ReadFile(path); err == nil {
				texts = append(texts, string(b))
			}
		}
	}
	for _, text := range texts {
		for _, key := range []string{"extends:", "ignore-from-file:"} {
			_, value, ok := strings.Cut(text, key)
			value, _, _ = strings.Cut(strings.TrimSpace(value), "\n")
			value = strings.Trim(value, " \t{}'\"")
			if value, _, _ = strings.Cut(value, ","); ok && !slices.Contains([]string{"default", "relaxed"}, value) {
				c.does(Read, Word{Text: strings.Trim(value, " '\"[]}")})
			}
		}
	}
}
