package plan

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/param"
	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/tool"
)

//go:embed question.md
var questionDoc string

// Question asks the person that the work is done for.
var Question = tool.Tool{
	Name:     "question",
	Summary:  "ask the user, and wait for the answers",
	Doc:      &questionDoc,
	New:      func() tool.Call { return new(questionCall) },
	ReadOnly: true,

	Others: []string{"askuserquestion", "ask", "askuser", "askfollowupquestion", "requestuserinput"},

	Examples: []string{
		`agentkit question '[{"question":"Which database?","options":[{"label":"SQLite"},{"label":"Postgres"}]}]'`,
		`agentkit question '[{"question":"Which name?"}]'`,
	},

	Metadata: (*questionMeta)(nil),
}

type questionCall struct {
	Questions []asked
}

// Params implements tool.Call.
func (c *questionCall) Params(p *param.Set) {
	param.Objects(p, &c.Questions, "questions", "in order").Required().Arg()
}

// An asked is one question as it comes.
type asked struct {
	Header   string        `json:"header"`
	Question string        `json:"question"`
	Options  []askedOption `json:"options"`
	Multiple bool          `json:"multiple"`
	Custom   bool          `json:"custom"`
}

// Params declares the members of a question.
func (q *asked) Params(p *param.Set) {
	q.Custom = true
	p.String(&q.Question, "question", "in full").Required().Alias("text", "prompt")
	p.String(&q.Header, "header", "at most 30 characters").Alias("title")
	param.Objects(p, &q.Options, "options", "to choose from").Alias("choices")
	p.Bool(&q.Multiple, "multiple", "several may be").Alias("multi_select", "multiSelect")
	p.Bool(&q.Custom, "custom", "other words will do").Rare()
}

// An askedOption is one of its options.
type askedOption struct {
	Label       string `json:"label"`
	Description string `json:"description"`
}

// Params declares the members of an option.
func (o *askedOption) Params(p *param.Set) {
	p.String(&o.Label, "label", "1 to 5 words").Required().Alias("value")
	p.String(&o.Description, "description", "what it means").Rare()
}

// maxHeader and maxQuestions bound what a person is asked at a time.
const (
	maxHeader    = 30
	maxQuestions = 20
)

// Needs implements tool.Call: it touches nothing.
func (c *questionCall) Needs(context.Context, *tool.Env) ([]policy.Access, error) {
	wrong := func(i int, format string, args ...any) *tool.Error {
		return tool.Errorf(tool.BadInput, "questions[%d]%s", i, fmt.Sprintf(format, args...))
	}
	if n := len(c.Questions); n == 0 || n > maxQuestions {
		return nil, tool.Errorf(tool.BadInput, "questions: want 1 to %d, got %d", maxQuestions, n).WithHint("ask what you cannot find out or decide yourself")
	}
	for i, q := range c.Questions {
		if strings.TrimSpace(q.Question) == "" {
			return nil, wrong(i, ".question is empty").WithHint("say what you want to know")
		}
		if n := len([]rune(q.Header)); n > maxHeader {
			return nil, wrong(i, ".header has %d characters, at most %d are shown", n, maxHeader).WithHint("shorten it; the question says the rest")
		}
		if len(q.Options) == 0 && !q.Custom {
			return nil, wrong(i, " has no options, and custom is false: nothing would be an answer").WithHint("give options, or leave custom out")
		}
		seen := map[string]bool{}
		for j, o := range q.Options {
			label := strings.ToLower(strings.TrimSpace(o.Label))
			if label == "" || seen[label] {
				return nil, wrong(i, ".options[%d].label is empty, or stands there twice", j).WithHint("give each option a label of its own")
			}
			seen[label] = true
		}
	}
	return nil, nil
}

type questionMeta struct {
	Answers []tool.Reply `json:"answers" doc:"one for each question, in their order"`
}

// Run implements tool.Call.
func (c *questionCall) Run(ctx context.Context, env *tool.Env) (*tool.Result, error) {
	questions := make([]tool.Question, len(c.Questions))
	for i, q := range c.Questions {
		questions[i] = tool.Question{Header: q.Header, Question: q.Question, Options: []tool.Option{}, Multiple: q.Multiple, Custom: q.Custom}
		for _, o := range q.Options {
			questions[i].Options = append(questions[i].Options, tool.Option{Label: strings.TrimSpace(o.Label), Description: o.Description})
		}
	}
	if env.Consult == nil {
		return nil, unanswered(questions, "nobody is there to ask")
	}
	given, err := env.Consult(ctx, questions)
	if nobody, ok := errors.AsType[*tool.NobodyError](err); ok {
		return nil, unanswered(questions, nobody.Why)
	}
	if err != nil {
		return nil, err
	}
	replies, err := tool.Replies(questions, given)
	if err != nil {
		return nil, tool.Errorf(tool.BadInput, "the answers: %w", err).WithHint("answer every question once")
	}
	var out strings.Builder
	for i, r := range replies {
		words := r.Selected
		if r.Custom != "" {
			words = append(slices.Clip(words), r.Custom)
		}
		fmt.Fprintf(&out, "%s\n-> %s\n", questions[i].Question, strings.Join(words, "; "))
	}
	return &tool.Result{Title: tool.Count(int64(len(replies)), "answer"), Output: out.String(), Metadata: questionMeta{replies}}, nil
}

// unanswered is the error with which a caller gets the questions.
func unanswered(questions []tool.Question, why string) error {
	var text strings.Builder
	for _, q := range questions {
		text.WriteString(q.Question + "\n")
		for _, o := range q.Options {
			text.WriteString("- " + o.Label + "\n")
		}
	}
	return tool.Errorf(tool.ApprovalRequired, "%s not answered: %s", tool.Count(int64(len(questions)), "question"), why).
		With(tool.QuestionDetails(questions)).Show(text.String()).
		WithHint(`whoever runs agentkit can ask, and repeat the call with --answers FILE, which holds {"answers":[{"question_index":0,"selected":["LABEL"]}]}`)
}
