package dialect

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/param"
	"github.com/agentkit-go/agentkit/pkg/tool"
)

// questions is the parameter that holds what the user is asked; several says what the
// member is called that lets several options be chosen.
func questions(several string) Param {
	options := listOf("the answers to choose from", member("label", "string", "the answer, in a few words", true), member("description", "string", "what it means", true))
	return Param{Name: "questions", Usage: "what to ask", Must: true, Kind: JSON, Schema: listOf("",
		member("question", "string", "the whole question", true), member("header", "string", "what it is about, in one or two words", true),
		param.Property{Name: "options", Schema: options}, member(several, "boolean", "several may be chosen", false))}
}

// headerSize is how many characters of a header are shown.
const headerSize = 30

// ask sends the questions under our names.
func ask(several string) func(*Call) error {
	return func(c *Call) error {
		list := renamed(c.list("questions"), map[string]string{"question": "question", "header": "header", "options": "options", several: "multiple"})
		for _, q := range list {
			if header, ok := q["header"].(string); ok {
				q["header"] = string([]rune(header)[:min(headerSize, len([]rune(header)))])
			}
		}
		c.Out["questions"] = list
		return nil
	}
}

// asked is a tool of an agent that asks as we do, and whose answers are JSON: by the id of each
// question, or else by its number.
func asked(name string, show func(*View) string) Tool {
	return Tool{
		Name: name, To: "question", Told: "Asks the user, and waits for the answers.", Hidden: true,
		Params: []Param{questions("multiSelect")}, Map: ask("multiSelect"), Show: show,
		Differs: "where nobody is there the call ends with the questions, for the caller to ask",
	}
}

// chosen is the words of each answer, by its question's id or number.
func chosen(v *View) map[string][]string {
	list, questions := map[string][]string{}, v.list("questions")
	for _, a := range v.Meta.Answers {
		words := a.Selected
		if a.Custom != "" {
			words = append(words, a.Custom)
		}
		id := strconv.Itoa(a.Question)
		if a.Question < len(questions) {
			if own, ok := questions[a.Question]["id"].(string); ok {
				id = own
			}
		}
		list[id] = words
	}
	return list
}

// codexAnswers is what Codex's request_user_input returns.
func codexAnswers(v *View) string {
	return failedOr(v, func() string {
		answers := map[string]any{}
		for id, words := range chosen(v) {
			answers[id] = map[string]any{"answers": words}
		}
		raw, _ := tool.Encode(map[string]any{"answers": answers})
		return string(raw)
	})
}

// geminiAnswers is what Gemini CLI's ask_user returns.
func geminiAnswers(v *View) string {
	return failedOr(v, func() string {
		answers := map[string]string{}
		for id, words := range chosen(v) {
			answers[id] = strings.Join(words, ", ")
		}
		raw, _ := tool.Encode(map[string]any{"answers": answers})
		return string(raw)
	})
}

// answered says what the user has answered.
func answered(v *View) string {
	return failedOr(v, func() string {
		var list []string
		asked := v.list("questions")
		for _, a := range v.Meta.Answers {
			words := a.Selected
			if a.Custom != "" {
				words = append(words, a.Custom)
			}
			if a.Question < len(asked) {
				list = append(list, fmt.Sprintf("\"%v\"=\"%s\"", asked[a.Question]["question"], strings.Join(words, ", ")))
			}
		}
		return "User has answered your questions: " + strings.Join(list, ", ") + ". You can now continue with the user's answers in mind."
	})
}
