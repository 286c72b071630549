package programs

import (
	"regexp"
	"strings"
)

const checksumOptions = "a,algorithm: b,binary c,check t,text z,zero w,warn l,length: s,status q,quiet raw tag untagged base64 ignore-missing strict U,UNIVERSAL 0,01"

// checksums reads programs that make checksums, or with -c compare the files of a list
// with theirs: that tells whether a file holds what somebody guesses.
func (c *Call) checksums() {
	c.parse()
	c.operands("read*")
	if !c.has("c", "check") {
		return
	}
	known := len(c.Args) > 0
	for _, x := range c.Args {
		if x.Text == "-" && !x.Dynamic {
			in := c.Shell.Stdin()
			known = known && in.Known && c.compares(in.Text)
			continue
		}
		paths := c.paths(x)
		known = known && len(paths) > 0 && c.Shell.Sees() && !c.Shell.Dirty()
		for _, p := range paths {
			b, err := c.Shell.ReadFile(p)
			known = known && (err == nil && c.compares(string(b)) || err != nil && c.Shell.ResolveIn("/", p).Type == Missing)
		}
	}
	if in := c.Shell.Stdin(); len(c.Args) == 0 && in.Known {
		known = c.compares(in.Text)
	}
	if !known {
		c.opaque("it reads the files that its list names")
	}
}

// compares says which files a list names; false where a line is not understood.
func (c *Call) compares(list string) bool {
	line := regexp.MustCompile(`^(?:[0-9A-Fa-f]{8,128} [ *?^]?(.+)|[0-9A-Za-z/-]+ ?\((.+)\) ?= ?[0-9A-Za-z+/=]+)$`)
	for text := range strings.Lines(list) {
		text = strings.TrimRight(text, "\r\n")
		if text == "" || text[0] == '#' {
			continue
		}
		m := line.FindStringSubmatch(text)
		if m == nil || strings.ContainsRune(list, 0) {
			return false
		}
		c.file(Read, Word{Text: m[1] + m[2]})
	}
	return true
}
