package policy

import (
	"fmt"
	"strings"
)

// codex reads Codex's config.toml, or a file of its rules: calls of prefix_rule and
// network_rule, of which the strictest of all that match decides, as here.
func (im *importer) codex(name string, data []byte) error {
	if strings.HasSuffix(name, ".toml") {
		return im.codexSettings(data)
	}
	calls, err := starlarkCalls(string(data))
	if err != nil {
		return err
	}
	for _, c := range calls {
		switch c.name {
		case "prefix_rule":
			err = im.prefixRule(c)
		case "network_rule":
			err = im.networkRule(c)
		case "host_executable":
			im.note("host_executable (line %d): an absolute path in a rule means that very program here", c.line)
		default:
			err = fmt.Errorf("line %d: %s is not known", c.line, visible(c.name))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// codexVerdict reads a decision; without one a rule allows.
func codexVerdict(c *starlarkCall) (Verdict, error) {
	switch word, _ := c.args["decision"].(string); word {
	case "", "allow":
		if _, given := c.args["decision"]; given && word == "" {
			break
		}
		return Allow, nil
	case "prompt":
		return Ask, nil
	case "forbidden", "deny":
		return Deny, nil
	}
	return Deny, fmt.Errorf("line %d: decision must be allow, prompt or forbidden", c.line)
}

func (im *importer) prefixRule(c *starlarkCall) error {
	v, err := codexVerdict(c)
	if err != nil {
		return err
	}
	pattern, ok := c.args["pattern"].([]any)
	if !ok || len(pattern) == 0 {
		return fmt.Errorf("line %d: prefix_rule has no pattern", c.line)
	}
	reason, _ := c.args["justification"].(string)
	all := []string{""}
	for _, token := range pattern {
		words, ok := token.([]any)
		if one, isText := token.(string); isText {
			words, ok = []any{one}, true
		}
		if !ok {
			return fmt.Errorf("line %d: a pattern is a list of words, or of lists of words", c.line)
		}
		var next []string
		for _, prefix := range all {
			for _, w := range words {
				text, ok := w.(string)
				if !ok || text == "" || len(all)*len(words) > 500 {
					return fmt.Errorf("line %d: a pattern is a list of words, or of lists of words", c.line)
				}
				next = append(next, strings.TrimSpace(prefix+" "+quoteWord(text)))
			}
		}
		all = next
	}
	for _, words := range all {
		im.add(foreignRule{list: v, text: "bash(" + words + " *)", reason: reason, source: fmt.Sprintf("line %d", c.line)})
	}
	return nil
}

func (im *importer) networkRule(c *starlarkCall) error {
	v, err := codexVerdict(c)
	host, _ := c.args["host"].(string)
	if err == nil && host == "" {
		err = fmt.Errorf("line %d: network_rule has no host", c.line)
	}
	if err != nil {
		return err
	}
	im.host(v, host, fmt.Sprintf("network_rule %s (line %d)", host, c.line))
	return nil
}

// A starlarkCall is a call with named arguments: texts, and lists of these.
type starlarkCall struct {
	name string
	line int
	args map[string]any
}

// starlarkCalls reads the part of Starlark that rules are written in: calls,
// names, texts, lists, comments.
func starlarkCalls(src string) (calls []*starlarkCall, err error) {
	p := &starlark{src: src, line: 1}
	for {
		name := p.name()
		if name == "" {
			if p.at < len(p.src) {
				return nil, fmt.Errorf("line %d: want a call, have %q", p.line, p.src[p.at:p.at+1])
			}
			return calls, nil
		}
		c := &starlarkCall{name: name, line: p.line, args: map[string]any{}}
		if !p.take('(') {
			return nil, fmt.Errorf("line %d: want a call of %s", p.line, visible(name))
		}
		for !p.take(')') {
			key := p.name()
			if key == "" || !p.take('=') {
				return nil, fmt.Errorf("line %d: want NAME = VALUE", p.line)
			}
			if c.args[key], err = p.value(0); err != nil {
				return nil, err
			}
			if !p.take(',') && !p.peek(')') {
				return nil, fmt.Errorf("line %d: want , or )", p.line)
			}
		}
		calls = append(calls, c)
	}
}

// A starlark reads text.
type starlark struct {
	src  string
	at   int
	line int
}

// space passes blanks and comments.
func (p *starlark) space() {
	for p.at < len(p.src) {
		switch c := p.src[p.at]; {
		case c == '\n':
			p.line++
		case c == '#':
			for p.at+1 < len(p.src) && p.src[p.at+1] != '\n' {
				p.at++
			}
		case c != ' ' && c != '\t' && c != '\r':
			return
		}
		p.at++
	}
}

func (p *starlark) peek(c byte) bool {
	p.space()
	return p.at < len(p.src) && p.src[p.at] == c
}

func (p *starlark) take(c byte) bool {
	if !p.peek(c) {
		return false
	}
	p.at++
	return true
}

func (p *starlark) name() string {
	p.space()
	start := p.at
	for p.at < len(p.src) && (p.src[p.at] == '_' || p.src[p.at]|0x20 >= 'a' && p.src[p.at]|0x20 <= 'z' || p.at > start && p.src[p.at] >= '0' && p.src[p.at] <= '9') {
		p.at++
	}
	return p.src[start:p.at]
}

// value reads a text, a list, or a bare word such as True.
func (p *starlark) value(depth int) (any, error) {
	p.space()
	switch {
	case p.at >= len(p.src) || depth > 8:
		return nil, fmt.Errorf("line %d: want a value", p.line)
	case p.src[p.at] == '[':
		p.at++
		list := []any{}
		for !p.take(']') {
			v, err := p.value(depth + 1)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
			if !p.take(',') && !p.peek(']') {
				return nil, fmt.Errorf("line %d: want , or ]", p.line)
			}
		}
		return list, nil
	case p.src[p.at] == '"' || p.src[p.at] == '\'':
		return p.quoted()
	}
	if name := p.name(); name != "" {
		return nil, nil
	}
	return nil, fmt.Errorf("line %d: want a text or a list, have %q", p.line, p.src[p.at:p.at+1])
}

func (p *starlark) quoted() (string, error) {
	start, quote := p.line, p.src[p.at:p.at+1]
	if strings.HasPrefix(p.src[p.at:], strings.Repeat(quote, 3)) {
		quote = strings.Repeat(quote, 3)
	}
	p.at += len(quote)
	var b strings.Builder
	for p.at < len(p.src) {
		switch c := p.src[p.at]; {
		case strings.HasPrefix(p.src[p.at:], quote):
			p.at += len(quote)
			return b.String(), nil
		case c == '\n' && len(quote) == 1:
			return "", fmt.Errorf("line %d: a text is not closed", start)
		case c == '\\' && p.at+1 < len(p.src):
			p.at++
			if i := strings.IndexByte(`nt\'"`, p.src[p.at]); i >= 0 {
				b.WriteByte("\n\t\\'\""[i])
			} else {
				return "", fmt.Errorf("line %d: an escape that is not known", p.line)
			}
		default:
			if c == '\n' {
				p.line++
			}
			b.WriteByte(c)
		}
		p.at++
	}
	return "", fmt.Errorf("line %d: a text is not closed", start)
}
