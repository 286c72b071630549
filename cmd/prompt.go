package cmd

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/tool"
)

// A prompt asks a person about one call on a terminal.
//
// Its rules: every access stands on a line of its own with its decision; what the
// model wrote is shown with control and invisible characters escaped, and more
// than one line of it behind bars; the rules that a yes for longer would stand for,
// and the file that "always" would write, are shown before they are chosen;
// nothing but a clear yes is one: what is no answer is asked about again, and no
// answer is no.
type prompt struct {
	questioner
	r    *tool.Request
	list []policy.Suggestion
}

// refusing is the end of a question: how to say no, and that it can have a reason.
const refusing = "[n]o (or n REASON): "

// mostTries bounds how often a person is asked.
const mostTries = 5

// askPerson shows the request on a terminal and reads the answer.
func askPerson(tty terminal, r *tool.Request) (tool.Answer, error) {
	p := prompt{newQuestioner(tty), r, r.Details.Request.Suggestions}
	var b strings.Builder
	b.WriteString("agentkit: " + wanted(r))
	question := p.offer(&b)
	for range mostTries {
		line, err := p.ask(b.String() + question)
		if err != nil && line == "" {
			break // the terminal went away: nobody said yes
		}
		b.Reset()
		answer, again := p.interpret(strings.TrimSpace(line))
		if !again {
			return answer, nil
		}
	}
	return tool.Answer{}, nil
}

// wanted says what is asked about: the call, and each of its accesses.
func wanted(r *tool.Request) string {
	var b strings.Builder
	place := ""
	if r.On != "" {
		place = " on " + tool.VisibleName(r.On)
	}
	fmt.Fprintf(&b, "%s%s needs approval\n", tool.VisibleName(r.Tool), place)
	if r.Dir != "" {
		fmt.Fprintf(&b, "  a program that the running command starts in %s\n", tool.VisibleName(r.Dir))
	}
	tell(&b, r.Details.Request.Metadata)
	for i := range r.Details.Accesses {
		d := &r.Details.Accesses[i]
		fmt.Fprintf(&b, "  %-5s %s %s\n", d.Decision, tool.VisibleName(string(d.Kind)), tool.VisibleName(d.Subject))
		if d.Decision == policy.Ask {
			fmt.Fprintf(&b, "        %s (%s)\n", tool.VisibleName(d.Why), tool.VisibleName(d.Rule))
		}
	}
	return b.String()
}

// offer shows how far a yes can reach, and returns the question.
func (p *prompt) offer(b *strings.Builder) string {
	choices := []string{"[y]es once"}
	if len(p.list) == 0 {
		return "agentkit: allow? [y]es once, " + refusing
	}
	b.WriteString("  a yes for longer can stand for\n")
	always := false
	for i, s := range p.list {
		only := ""
		if always = always || s.Always; !s.Always {
			only = ", for the session only"
		}
		fmt.Fprintf(b, "  %d  %s  (%s%s)\n", i+1, tool.VisibleName(strings.Join(s.Rules, "  ")), tool.VisibleName(s.Width), only)
	}
	choices = append(choices, "[s]ession")
	if file := p.r.Details.Request.AlwaysFile; always && file != "" {
		fmt.Fprintf(b, "  always adds that to allow in %s\n", tool.VisibleName(file))
		choices = append(choices, "[a]lways")
	}
	if p.r.Uncovered != nil {
		choices = append(choices, "[e]dit the rules")
	}
	more := ""
	if len(p.list) > 1 {
		more = " (s2: number 2)"
	}
	return "agentkit: allow? " + strings.Join(choices, ", ") + more + ", " + refusing
}

// interpret reads an answer; again says that it was none yet.
func (p *prompt) interpret(line string) (answer tool.Answer, again bool) {
	word, rest, _ := strings.Cut(line, " ")
	word = strings.ToLower(word)
	switch word {
	case "y", "yes":
		return tool.Answer{Yes: true, Scope: tool.Once}, false
	case "n", "no":
		return tool.Answer{Reason: strings.TrimSpace(rest)}, false
	case "":
		return tool.Answer{}, false
	}
	letters := strings.TrimRight(word, "0123456789")
	number := word[len(letters):] + strings.TrimSpace(rest)
	n := 1
	if number != "" {
		var err error
		if n, err = strconv.Atoi(number); err != nil {
			return p.again("that is no answer: %s", line)
		}
	}
	if n < 1 || n > len(p.list) {
		return p.again("that is no answer here: %s", line)
	}
	s := p.list[n-1]
	switch letters {
	case "s", "session":
		return tool.Answer{Yes: true, Scope: tool.Session, Rules: s.Rules}, false
	case "a", "always":
		if s.Always && p.r.Details.Request.AlwaysFile != "" {
			return tool.Answer{Yes: true, Scope: tool.Always, Rules: s.Rules}, false
		}
	case "e", "edit":
		if p.r.Uncovered != nil {
			return p.edit(s)
		}
	}
	return p.again("that is no answer here: %s", line)
}

// edit reads rules of the person's own, one for each that is suggested, and for how
// long they are to hold. What is no rule, and rules that leave something of the call
// to be asked about, are said to be that, and the question is put again.
func (p *prompt) edit(s policy.Suggestion) (answer tool.Answer, again bool) {
	for _, rule := range s.Rules {
		own, ok := p.read("agentkit: instead of " + tool.VisibleName(rule) + " (empty: as it is): ")
		if !ok {
			return answer, false
		}
		if own == "" {
			own = rule
		}
		answer.Rules = append(answer.Rules, own)
	}
	switch left, err := p.r.Uncovered(answer.Rules); {
	case err != nil:
		return p.again("that is no rule: %s", err.Error())
	case len(left) > 0:
		return p.again("that leaves to be asked about: %s", strings.Join(left, ", "))
	}
	scopes := "[s]ession, " + refusing
	if p.r.Details.Request.AlwaysFile != "" {
		scopes = "[s]ession, [a]lways, " + refusing
	}
	line, _ := p.read("agentkit: allow " + tool.VisibleName(strings.Join(answer.Rules, "  ")) + "? " + scopes)
	scope, reason, _ := strings.Cut(line, " ")
	switch {
	case scope == "n" || scope == "no":
		return tool.Answer{Reason: strings.TrimSpace(reason)}, false
	case line == "s" || line == "session":
		answer.Yes, answer.Scope = true, tool.Session
	case (line == "a" || line == "always") && p.r.Details.Request.AlwaysFile != "":
		answer.Yes, answer.Scope = true, tool.Always
	case line == "":
		return tool.Answer{}, false
	default:
		return p.again("that is no answer here: %s", line)
	}
	return answer, false
}

func (p *prompt) again(format, what string) (tool.Answer, bool) {
	_, err := fmt.Fprintf(p.tty, "agentkit: "+format+"\n", tool.VisibleName(what))
	return tool.Answer{}, err == nil
}

// read asks for one line.
func (p *prompt) read(question string) (line string, ok bool) {
	line, err := p.ask(question)
	return strings.TrimSpace(line), err == nil || line != ""
}

// maxAbout and mostAbout bound what the prompt shows of each thing that a call tells
// of itself, in bytes and lines.
const (
	maxAbout  = 4000
	mostAbout = 60
)

// tell shows what a call tells of itself. What has several lines, as a command line
// may have, is shown as it was typed, each line behind a bar.
func tell(b *strings.Builder, about map[string]any) {
	calls, _ := about["calls"].([]map[string]any) // of a batch
	if list, ok := about["calls"].([]any); ok {   // from elsewhere
		for _, one := range list {
			call, _ := one.(map[string]any)
			calls = append(calls, call)
		}
	}
	for i, one := range calls {
		fmt.Fprintf(b, "  call %d: %s: %s\n", i+1, tool.VisibleName(fmt.Sprint(one["name"])), tool.VisibleName(fmt.Sprint(one["decision"])))
		tell(b, one)
	}
	for _, m := range []struct{ name, label string }{
		{"root", "root"},
		{"cwd", "directory"},
		{"command", "command"},
		{"description", "description"},
		{"file_path", "file"},
		{"would_fail", "would fail"},
		{"effects", "it would change"},
		{"diff", "diff"},
		{"diff_withheld", "no diff"},
		{"new_content", "new content"},
	} {
		text, _ := about[m.name].(string)
		if text == "" {
			continue
		}
		shown := text[:min(len(text), maxAbout)]
		lines := strings.SplitAfterN(shown, "\n", mostAbout+1)
		shown = strings.ToValidUTF8(strings.Join(lines[:min(len(lines), mostAbout)], ""), "")
		more := ""
		if left := len(text) - len(shown); left > 0 {
			more = fmt.Sprintf("… %s more, %d in all", tool.Count(int64(left), "byte"), len(text))
		}
		shown = tool.Visible(shown)
		if !strings.Contains(shown, "\n") {
			fmt.Fprintf(b, "  %s: %s%s\n", m.label, shown, more)
			continue
		}
		shown = strings.TrimSuffix(shown+more, "\n")
		fmt.Fprintf(b, "  %s:\n  | %s\n", m.label, strings.ReplaceAll(shown, "\n", "\n  | "))
	}
}
