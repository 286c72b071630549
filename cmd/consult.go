package cmd

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/machine"
	"github.com/agentkit-go/agentkit/pkg/param"
	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/tool"
)

// consultant returns who answers a model's questions: the file of --answers, else
// whoever answers for approvals; nil for nobody.
func (a *app) consultant(c *console) tool.Consultant {
	program, isProgram := strings.CutPrefix(a.Ask, "cmd:")
	switch {
	case a.Answers != "":
		return func(_ context.Context, questions []tool.Question) ([]tool.Reply, error) {
			raw, err := a.answersFile()
			if err != nil {
				return nil, tool.Errorf(tool.BadInput, "--answers: %w", err).WithHint("name a file that can be read")
			}
			return readReplies(raw, questions)
		}
	case isProgram:
		program = a.approver(program)
		return func(ctx context.Context, questions []tool.Question) ([]tool.Reply, error) {
			r := programRequest{Tool: "question", On: a.On, Questions: questions, Accesses: []policy.AccessReport{}, Rules: []string{}}
			r.Request = tool.QuestionRequest(questions)
			answer, err := runProgram(ctx, a.stderr, program, r)
			switch {
			case err != nil:
				return nil, err
			case answer.Decision == "deny":
				return nil, tool.Errorf(tool.Denied, "nobody wants to answer: %s", answer.Reason).WithHint("go on without an answer, or ask otherwise")
			case len(answer.Answers) == 0:
				return nil, &tool.NobodyError{Why: program + " printed no answers"}
			}
			return readReplies(answer.Answers, questions)
		}
	case a.attended():
		return func(ctx context.Context, questions []tool.Question) ([]tool.Reply, error) {
			return onTerminal(ctx, c, func(tty machine.Terminal) ([]tool.Reply, error) {
				return whileOpen(ctx, tty, func() ([]tool.Reply, error) { return consultPerson(tty, a.On, questions) })
			})
		}
	}
	return nil
}

func (a *app) answersFile() ([]byte, error) {
	if a.Answers == "-" {
		return a.readStdin()
	}
	return os.ReadFile(a.Answers)
}

// An answersFile is what --answers names. It may also be the list alone.
type answersFile struct{ Answers []tool.Reply }

// Params declares its members.
func (f *answersFile) Params(p *param.Set) {
	param.Objects(p, &f.Answers, "answers", "one for each question").Required()
}

// readReplies reads answers, which the caller has written, not the model.
func readReplies(raw []byte, questions []tool.Question) ([]tool.Reply, error) {
	if text := bytes.TrimSpace(raw); len(text) > 0 && text[0] == '[' {
		raw, _ = json.Marshal(map[string]json.RawMessage{"answers": text}) // what is no JSON is refused below
	}
	file := new(answersFile)
	err := param.Of(file).Decode(raw)
	var replies []tool.Reply
	if err == nil {
		replies, err = tool.Replies(questions, file.Answers)
	}
	if err != nil {
		return nil, tool.Errorf(tool.BadInput, "the answers: %w", err).
			WithHint(`write {"answers":[{"question_index":0,"selected":["LABEL"]}]}, one for each question; "custom" holds other words`)
	}
	return replies, nil
}

// consultPerson shows each question on a terminal and reads its answer, until it is one.
func consultPerson(tty terminal, place string, questions []tool.Question) ([]tool.Reply, error) {
	person := newQuestioner(tty)
	var given []tool.Reply
	for i := range questions {
		q := &questions[i]
		text := shownQuestion(place, q, i, len(questions))
		for {
			line, err := person.ask(text)
			if line = strings.TrimSpace(line); err != nil && line == "" {
				return nil, &tool.NobodyError{Why: "nobody answered on the terminal"}
			}
			reply := choose(q, line)
			if _, wrong := tool.Replies([]tool.Question{*q}, []tool.Reply{reply}); wrong == nil {
				reply.Index = i
				given = append(given, reply)
				break
			}
			text = fmt.Sprintf("agentkit: that is no answer; %s: ", howTo(q))
		}
	}
	return tool.Replies(questions, given)
}

func shownQuestion(place string, q *tool.Question, i, of int) string {
	var b strings.Builder
	b.WriteString("agentkit: question")
	if place != "" {
		b.WriteString(" on " + tool.VisibleName(place))
	}
	if of > 1 {
		fmt.Fprintf(&b, " %d of %d", i+1, of)
	}
	if q.Header != "" {
		b.WriteString(": " + tool.VisibleName(q.Header))
	}
	fmt.Fprintf(&b, "\n  | %s\n", strings.ReplaceAll(tool.Visible(q.Question), "\n", "\n  | "))
	for n, o := range q.Options {
		fmt.Fprintf(&b, "  %d  %s", n+1, tool.VisibleName(o.Label))
		if o.Description != "" {
			fmt.Fprintf(&b, ": %s", tool.VisibleName(o.Description))
		}
		b.WriteByte('\n')
	}
	fmt.Fprintf(&b, "agentkit: %s: ", howTo(q))
	return b.String()
}

// howTo says what an answer is.
func howTo(q *tool.Question) string {
	text := "the number of an option"
	if q.Multiple {
		text = "numbers of options, with commas"
	}
	switch {
	case len(q.Options) == 0:
		return "your answer"
	case q.Custom:
		text += ", or your own words"
	}
	return text
}

// choose reads a line as numbers of options, or as the label of one, or as an answer
// in other words.
func choose(q *tool.Question, line string) tool.Reply {
	var chosen []string
	for word := range strings.FieldsFuncSeq(line, func(r rune) bool { return r == ',' || r == ' ' || r == '\t' }) {
		n, err := strconv.Atoi(word)
		if err != nil || n < 1 || n > len(q.Options) {
			chosen = nil
			break
		}
		chosen = append(chosen, q.Options[n-1].Label)
	}
	if len(chosen) > 0 && (q.Multiple || len(chosen) == 1) {
		return tool.Reply{Selected: chosen}
	}
	for _, o := range q.Options {
		if strings.EqualFold(o.Label, line) {
			return tool.Reply{Selected: []string{o.Label}}
		}
	}
	return tool.Reply{Custom: line}
}
