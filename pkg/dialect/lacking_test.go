package dialect

import (
	"errors"
	"strings"
	"testing"

	"github.com/agentkit-go/agentkit/pkg/tool"
)

// TestLacking shows that a model which calls what is not here, such as an agent below it or a
// plan mode, is told what to do instead, by the names of the tools that it has.
func TestLacking(t *testing.T) {
	for _, name := range Names() {
		d, err := Find(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range lacks() {
			own := ""
			for _, one := range d.Listed() {
				if own == "" && one.To == l.to {
					own = one.Name
				}
			}
			for called := range strings.FieldsSeq(l.names) {
				_, err := d.Find(strings.ToUpper(called[:1]) + called[1:])
				if err == nil {
					continue // this agent has it
				}
				e, ok := errors.AsType[*tool.Error](err)
				if !ok || !strings.HasPrefix(e.Hint, l.instead) || own != "" && !strings.HasSuffix(e.Hint, own+" "+l.helps) || len(e.Suggestions) > 0 {
					t.Errorf("%s: %s: %+v", name, called, e)
				}
			}
		}
	}
	d, err := Find("claude")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Find("Raed"); err == nil || !strings.Contains(err.Error(), "unknown tool") {
		t.Errorf("what nobody knows: %v", err)
	}
	for called, want := range map[string]string{"Task": "TodoWrite keeps the list of steps", "ExitPlanMode": "TodoWrite keeps its steps", "TaskUpdate": "TodoWrite takes it, with the status of each step"} {
		_, err := d.Find(called)
		if e, ok := errors.AsType[*tool.Error](err); !ok || !strings.HasSuffix(e.Hint, want) {
			t.Errorf("%s: %+v", called, e)
		}
	}
}
