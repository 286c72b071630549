package page

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// section keeps what is below one heading, up to the next of its level.
func (d *Document) section(name string) error {
	i := d.indexOf(name)
	if i < 0 {
		var near []string
		for _, h := range d.Outline {
			if len(near) < 40 {
				near = append(near, h.Text)
			}
		}
		return &NotFoundError{What: "section", Name: name, Near: near}
	}
	end, last := len(d.Text), len(d.Outline)
	for j := i + 1; j < len(d.Outline); j++ {
		if d.Outline[j].Level <= d.Outline[i].Level {
			end, last = d.Outline[j].Offset, j
			break
		}
	}
	start := d.Outline[i].Offset
	text := d.Text[start:end]
	text = strings.TrimRight(text[:len(text)-len(trailingBox(text))], " \n>") + "\n"
	d.Outline = append([]Heading(nil), d.Outline[i:last]...)
	for j := range d.Outline {
		d.Outline[j].Offset -= start
	}
	d.Text, d.cuts = text, nil
	d.keepLinks()
	return nil
}

// trailingBox is what of the next heading's line stands before the heading.
func trailingBox(text string) string {
	i := strings.LastIndexByte(text, '\n')
	if unboxed(text[i+1:]) == "" {
		return text[i+1:]
	}
	return ""
}

// indexOf is the place in the outline of a section: by #id, by its number, by its text.
func (d *Document) indexOf(name string) int {
	name = strings.TrimSpace(name)
	if id, ok := strings.CutPrefix(name, "#"); ok {
		for i, h := range d.Outline {
			if h.ID == id {
				return i
			}
		}
		name = strings.TrimSpace(strings.TrimLeft(name, "#"))
	}
	want := strings.ToLower(strings.Join(strings.Fields(name), " "))
	same := []func(text string) bool{
		func(text string) bool { return text == want },
		func(text string) bool { return strings.TrimLeft(text, "0123456789. §") == want },
		func(text string) bool { return strings.HasPrefix(text, want) },
		func(text string) bool { return strings.Contains(text, want) },
	}
	for pass, is := range same {
		for i, h := range d.Outline {
			if is(strings.ToLower(h.Text)) && want != "" {
				return i
			}
		}
		if n, err := strconv.Atoi(want); pass == 1 && err == nil && n > 0 && n <= len(d.Outline) {
			return n - 1
		}
	}
	return -1
}

// keepLinks drops the links that are not in the text any more.
func (d *Document) keepLinks() {
	var kept []Link
	for _, l := range d.Links {
		if strings.Contains(d.Text, l.URL) {
			kept = append(kept, l)
		}
	}
	d.Links = kept
}

func compileFind(pattern string) (*regexp.Regexp, error) {
	if pattern == "" {
		return nil, nil
	}
	re, err := regexp.Compile("(?i)" + pattern)
	if err != nil {
		return nil, &OptionError{"find", err}
	}
	return re, nil
}

// find keeps the blocks that match, those around them, and the headings they are below.
func (d *Document) find(re *regexp.Regexp, around int) error {
	list := paragraphs(d.Text)
	keep := make([]bool, len(list))
	found := false
	for i, b := range list {
		if !re.MatchString(d.Text[b.start:b.end]) {
			continue
		}
		found = true
		for j := max(0, i-around); j <= min(len(list)-1, i+around); j++ {
			keep[j] = true
		}
		depth := 7
		for j := i; j >= 0 && depth > 1; j-- {
			if l := headingLevel(d.Text, list[j]); l > 0 && l < depth {
				keep[j], depth = true, l
			}
		}
	}
	if !found {
		return &NotFoundError{What: "text for", Name: re.String()[len("(?i)"):]}
	}
	var b strings.Builder
	before := -1
	for i, k := range list {
		if !keep[i] {
			continue
		}
		switch {
		case before >= 0 && before < i-1:
			b.WriteString("\n[…]\n\n")
		case before >= 0:
			b.WriteByte('\n')
		}
		before = i
		b.WriteString(strings.TrimRight(d.Text[k.start:k.end], "\n") + "\n")
	}
	d.Text, d.cuts = b.String(), nil
	d.Outline = outlineOf(d.Text)
	d.keepLinks()
	return nil
}

// paragraphs are the blocks of a text with the lines of each paragraph and list together.
func paragraphs(text string) []block {
	var list []block
	joined := false
	for _, b := range blocks(text) {
		if b.kind == separator {
			joined = false
			continue
		}
		if b.kind == lines && joined {
			list[len(list)-1].end = b.end
			continue
		}
		joined = b.kind == lines
		list = append(list, b)
	}
	return list
}

func headingLevel(text string, b block) int {
	if b.kind != title {
		return 0
	}
	bare := unboxed(text[b.start:b.end])
	return len(bare) - len(strings.TrimLeft(bare, "#"))
}

// listLinks makes the links the text.
func (d *Document) listLinks() {
	var b strings.Builder
	for _, l := range d.Links {
		fmt.Fprintf(&b, "- [%s](%s)\n", strings.NewReplacer("[", `\[`, "]", `\]`, "\n", " ").Replace(l.Text), l.URL)
	}
	d.Text, d.cuts, d.Outline = b.String(), nil, nil
}

// listOutline makes the headings the text, each with the number that Section takes.
func (d *Document) listOutline() {
	least := 6
	for _, h := range d.Outline {
		least = min(least, h.Level)
	}
	var b strings.Builder
	for i, h := range d.Outline {
		fmt.Fprintf(&b, "%s%d. %s\n", strings.Repeat("   ", h.Level-least), i+1, h.Text)
	}
	d.Text, d.cuts = b.String(), nil
}
