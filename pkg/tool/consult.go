package tool

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/nearest"
	"github.com/agentkit-go/agentkit/pkg/param"
)

// A Consultant lets someone answer questions of a model. It returns a NobodyError
// where that someone is not there. What it returns is checked by Replies.
type Consultant func(context.Context, []Question) ([]Reply, error)

// A Question is one that a model asks.
type Question struct {
	Header   string   `json:"header"`
	Question string   `json:"question"`
	Options  []Option `json:"options"`
	Multiple bool     `json:"multiple"`
	Custom   bool     `json:"custom"`
}

// An Option is an answer that the model has thought of.
type Option struct {
	Label       string `json:"label"`
	Description string `json:"description"`
}

// A Reply is the answer to one question.
type Reply struct {
	Index    int      `json:"question_index" doc:"which question, from 0"`
	Selected []string `json:"selected" doc:"labels of the options that were chosen"`
	Custom   string   `json:"custom,omitempty" doc:"an answer in other words"`
}

// Params declares the members of a reply.
func (r *Reply) Params(p *param.Set) {
	p.Int(&r.Index, "question_index", "which question, from 0").Required().Alias("question", "index").Between(0, 1000)
	p.Strings(&r.Selected, "selected", "labels of the options that are chosen").Alias("answer", "answers")
	p.String(&r.Custom, "custom", "an answer in other words")
}

// Replies are the answers in the order of the questions, their labels spelled as the
// options are. Every question has to have one.
func Replies(questions []Question, given []Reply) ([]Reply, error) {
	replies := make([]Reply, len(questions))
	answered := make([]bool, len(questions))
	for _, r := range given {
		switch {
		case r.Index < 0 || r.Index >= len(questions):
			return nil, fmt.Errorf("question_index %d: the last question is %d", r.Index, len(questions)-1)
		case answered[r.Index]:
			return nil, fmt.Errorf("question %d is answered twice", r.Index)
		}
		answered[r.Index] = true
		q := &questions[r.Index]
		own := Reply{Index: r.Index, Selected: []string{}, Custom: strings.TrimSpace(r.Custom)}
		for _, label := range r.Selected {
			known, err := q.label(label)
			if err != nil {
				return nil, fmt.Errorf("question %d: %w", r.Index, err)
			}
			if !slices.Contains(own.Selected, known) {
				own.Selected = append(own.Selected, known)
			}
		}
		count := len(own.Selected)
		if own.Custom != "" {
			count++
		}
		switch {
		case count == 0:
			return nil, fmt.Errorf("question %d has no answer", r.Index)
		case count > 1 && !q.Multiple:
			return nil, fmt.Errorf("question %d has %d answers and takes one", r.Index, count)
		case own.Custom != "" && !q.Custom:
			return nil, fmt.Errorf("question %d takes only its options: %s", r.Index, strings.Join(q.labels(), ", "))
		}
		replies[r.Index] = own
	}
	if i := slices.Index(answered, false); i >= 0 {
		return nil, fmt.Errorf("question %d is not answered: %s", i, cmp.Or(questions[i].Header, questions[i].Question))
	}
	return replies, nil
}

// label is the option that is meant.
func (q *Question) label(text string) (string, error) {
	for _, label := range q.labels() {
		if strings.EqualFold(label, strings.TrimSpace(text)) {
			return label, nil
		}
	}
	err := fmt.Errorf("%q is none of its options: %s", text, strings.Join(q.labels(), ", "))
	if near := nearest.Word(text, q.labels()); near != "" {
		err = fmt.Errorf("%q is none of its options; did you mean %s?", text, near)
	}
	return "", err
}

func (q *Question) labels() []string {
	var list []string
	for _, o := range q.Options {
		list = append(list, o.Label)
	}
	return list
}
