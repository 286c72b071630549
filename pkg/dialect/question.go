package dialect

import (
	"fmt"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/param"
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
