package files

import (
	"fmt"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/edit"
	"github.com/agentkit-go/agentkit/pkg/tool"
)

// inColour is a text with a diff below it in colour: the lines that went and
// came, and in them the words that make the difference.
func inColour(output, diff string) func(func(tool.Style, string) string) string {
	return func(paint func(tool.Style, string) string) string {
		p := &diffPainter{paint: paint}
		p.b.WriteString(output)
		for line := range strings.Lines(diff) {
			p.line(line)
		}
		p.flush()
		return p.b.String()
	}
}

// A diffPainter colours a unified diff of any number of files. Lines that went
// and those that came in their place are held until both are known.
type diffPainter struct {
	b          strings.Builder
	paint      func(tool.Style, string) string
	olds, news int // lines of the hunk that are still to come
	gone, come []string
}

func (p *diffPainter) line(line string) {
	switch {
	case strings.HasPrefix(line, `\`): // no newline at the end of the file
		p.join(line)
	case p.olds <= 0 && p.news <= 0:
		p.flush()
		p.head(line)
	case strings.HasPrefix(line, "-"):
		if len(p.come) > 0 {
			p.flush()
		}
		p.gone = append(p.gone, line)
		p.olds--
	case strings.HasPrefix(line, "+"):
		p.come = append(p.come, line)
		p.news--
	default:
		p.flush()
		p.whole(tool.Plain, line)
		p.olds, p.news = p.olds-1, p.news-1
	}
}

// head is a line outside hunks: names, the head of a hunk, or what was cut off.
func (p *diffPainter) head(line string) {
	style := tool.Plain
	switch {
	case strings.HasPrefix(line, "@@ -"):
		style, p.olds, p.news = tool.Faint, 1, 1
		words := strings.Fields(line)
		if len(words) > 2 {
			scanCount(words[1], &p.olds)
			scanCount(words[2], &p.news)
		}
	case strings.HasPrefix(line, "--- "), strings.HasPrefix(line, "+++ "):
		style = tool.Faint
	}
	p.whole(style, line)
}

// scanCount reads the second number of -12,3; without one it is 1.
func scanCount(word string, n *int) {
	if _, digits, ok := strings.Cut(word, ","); ok {
		_, _ = fmt.Sscan(digits, n)
	}
}

// join puts a remark where the line is that it is about.
func (p *diffPainter) join(line string) {
	switch {
	case len(p.come) > 0:
		p.come[len(p.come)-1] += line
	case len(p.gone) > 0:
		p.gone[len(p.gone)-1] += line
	default:
		p.whole(tool.Plain, line)
	}
}

// flush writes the lines that are held.
func (p *diffPainter) flush() {
	gone, come := edit.Words(unmarked(p.gone), unmarked(p.come))
	p.side(tool.Removed, p.gone, gone)
	p.side(tool.Added, p.come, come)
	p.gone, p.come = nil, nil
}

// unmarked are lines of a diff without the mark in front and the remark behind.
func unmarked(lines []string) string {
	var b strings.Builder
	for _, l := range lines {
		first, _, _ := strings.Cut(l[1:], "\n")
		b.WriteString(first + "\n")
	}
	return b.String()
}

// side writes lines of one kind; the parts, which are offsets in all of them,
// stand out: they are a match in the style of the line. A line of nothing but such parts says no more than its colour.
func (p *diffPainter) side(style tool.Style, lines []string, parts [][2]int) {
	at := 0
	for _, l := range lines {
		text, remark, _ := strings.Cut(l[1:], "\n")
		var own [][2]int
		for _, q := range parts {
			if from, to := max(q[0]-at, 0), min(q[1]-at, len(text)); from < to {
				own = append(own, [2]int{from, to})
			}
		}
		at += len(text) + 1
		if len(own) == 1 && strings.TrimSpace(text[:own[0][0]]+text[own[0][1]:]) == "" {
			own = nil
		}
		if own == nil {
			p.whole(style, l[:1]+text)
		} else {
			p.parts(style, l[:1], text, own)
		}
		if remark != "" {
			p.whole(tool.Faint, remark)
		}
	}
}

// parts writes one line with parts that stand out.
func (p *diffPainter) parts(style tool.Style, mark, text string, own [][2]int) {
	p.b.WriteString(p.paint(style, mark))
	done := 0
	for _, q := range own {
		p.b.WriteString(p.paint(style, text[done:q[0]]) + p.paint(tool.Match, p.paint(style, text[q[0]:q[1]])))
		done = q[1]
	}
	p.b.WriteString(p.paint(style, text[done:]) + "\n")
}

func (p *diffPainter) whole(style tool.Style, line string) {
	text := strings.TrimSuffix(line, "\n")
	p.b.WriteString(p.paint(style, text) + "\n")
}
