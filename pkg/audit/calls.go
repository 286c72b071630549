package audit

import (
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/agentkit-go/agentkit/pkg/safefile"
)

// A Call is what the records tell of one call, and what Fill adds to them.
type Call struct {
	ID       string    `json:"id"`
	Caller   string    `json:"caller,omitempty"`  // what the caller calls it
	Message  string    `json:"message,omitempty"` // what the caller calls the message that holds it
	Agent    string    `json:"agent,omitempty"`   // which of the caller's agents made it
	Parent   string    `json:"parent,omitempty"`  // the call that made it
	Time     time.Time `json:"time"`              // of the decision
	Tool     string    `json:"tool"`
	Args     Args      `json:"args,omitempty"`
	Decision string    `json:"decision"`
	Note     string    `json:"note,omitempty"` // why, where a person or a rule for many calls decided
	Level    string    `json:"level,omitempty"`
	Accesses []Access  `json:"accesses,omitempty"`
	Asked    []Access  `json:"asked,omitempty"` // what was decided while it ran

	Ended  bool   `json:"ended"` // there is a result
	Exit   *int   `json:"exit,omitempty"`
	Code   string `json:"code,omitempty"`
	Title  string `json:"title,omitempty"`
	Text   string `json:"text,omitempty"`
	Millis int64  `json:"ms"`
	Diff   string `json:"diff,omitempty"`
	Change string `json:"change,omitempty"`
	Job    string `json:"job,omitempty"`
}

// Args are the parameters that a call was given, a JSON object; text that is none where
// some of it is not on record.
type Args string

// MarshalJSON implements json.Marshaler.
func (a Args) MarshalJSON() ([]byte, error) {
	if json.Valid([]byte(a)) {
		return []byte(a), nil
	}
	return json.Marshal(string(a))
}

// End is when the call ended, as far as is known.
func (c *Call) End() time.Time { return c.Time.Add(time.Duration(c.Millis) * time.Millisecond) }

// Unanswered reports whether the call waits for an approval, or for the answer to a model's
// question.
func (c *Call) Unanswered() bool { return c.Decision == "ask" || c.Code == "approval_required" }

// Failed reports whether the call was refused, or ended with an error. One that is
// unanswered has not failed.
func (c *Call) Failed() bool { return c.Decision == "deny" || c.Code != "" && !c.Unanswered() }

// Cut reports whether something of the parameters is not on record.
func (c *Call) Cut() bool {
	args := string(c.Args)
	return args == "" || strings.Contains(args, markPrefix) || strings.Contains(args, cutMark)
}

// What is what the call is about, in one line: its main parameter, else its title.
func (c *Call) What() string {
	var args map[string]any
	if json.Unmarshal([]byte(c.Args), &args) == nil {
		for _, name := range []string{"command", "argv", "path", "paths", "pattern", "query", "url", "id", "code"} {
			switch v := args[name].(type) {
			case string:
				if v != "" {
					return strings.Join(strings.Fields(v), " ")
				}
			case []any:
				if len(v) > 0 {
					return strings.TrimSpace(strings.Trim(fmt.Sprint(v), "[]"))
				}
			}
		}
		if asked := questions(args["questions"]); asked != "" {
			return asked
		}
	}
	return c.Title
}

// questions are the texts of a model's questions; "" where v is no list of any.
func questions(v any) string {
	list, _ := v.([]any)
	var texts []string
	for _, one := range list {
		q, _ := one.(map[string]any)
		if text, ok := q["question"].(string); ok {
			texts = append(texts, strings.Join(strings.Fields(text), " "))
		}
	}
	return strings.Join(texts, " ")
}

// Wants says in words for what an unanswered call waits.
func (c *Call) Wants() string {
	if c.Decision != "ask" && c.Tool == "question" {
		return "not answered"
	}
	return "needs approval"
}

// Why is what stood in the way of a call: the access that was not allowed, and the rule;
// "" for one that was.
func (c *Call) Why() string {
	if c.Decision == "allow" {
		return ""
	}
	for i := range c.Accesses {
		if a := &c.Accesses[i]; a.Decision == c.Decision {
			return strings.TrimSpace(fmt.Sprintf("%s %s: %s (%s)", a.Kind, a.Subject, a.Why, a.Rule))
		}
	}
	return c.Note
}

// Touches reports whether one of the call's accesses is about a path, or lies below it.
func (c *Call) Touches(path string) bool {
	return slices.ContainsFunc(slices.Concat(c.Accesses, c.Asked), func(a Access) bool {
		return a.Subject == path || safefile.Below(path, a.Subject)
	})
}

// Calls puts records together into calls, in the order in which they were decided. It
// counts the lines that are no records.
func Calls(records iter.Seq2[Record, error]) (calls []*Call, damaged int) {
	known := map[string]*Call{}
	for r, err := range records {
		if err != nil {
			damaged++
			continue
		}
		before := len(known)
		if c := Add(known, &r); c != nil && len(known) > before {
			calls = append(calls, c)
		}
	}
	return calls, damaged
}

// Add puts a record into the call that it is about, which is returned; nil for a record
// that is about none.
func Add(known map[string]*Call, r *Record) *Call {
	if r.ID == "" {
		return nil
	}
	if outer := known[r.Parent]; outer != nil && r.Asked {
		outer.Asked = append(outer.Asked, r.Accesses...)
		return outer
	}
	c, old := known[r.ID]
	if !old {
		c = &Call{ID: r.ID, Time: r.Time, Tool: r.Tool}
		known[r.ID] = c
	}
	switch {
	case r.Event == Result:
		c.Ended, c.Exit, c.Code, c.Title, c.Millis = true, r.Exit, r.Code, r.Title, r.Millis
		c.Change, c.Job = r.Change, r.Job
		if c.Millis == 0 {
			c.Millis = max(0, r.Time.Sub(c.Time).Milliseconds())
		}
	case r.Event == Decision && c.Decision == "":
		c.Decision, c.Note, c.Level, c.Accesses = r.Decision, r.Note, r.Level, r.Accesses
		c.Caller, c.Message, c.Agent, c.Parent = r.Caller, r.Message, r.Agent, r.Parent
	default:
		c.Asked = append(c.Asked, r.Accesses...)
	}
	return c
}
