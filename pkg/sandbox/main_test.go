package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/agentkit-go/agentkit/pkg/killtree"
)

// TestMain is the program that tests start as the stage, and as
// the attacker.
func TestMain(m *testing.M) {
	args := os.Args[1:]
	code, handled := killtree.Stage(args, NewConfiner(testDecider, nil))
	if !handled && len(args) > 0 {
		code, handled = testProgram(args)
	}
	if !handled {
		code = m.Run()
	}
	os.Exit(code)
}

// testPolicy is what tests carry in Config.Policy.
type testPolicy struct {
	Deny  []string // base names of programs
	Hold  string   // base name of a program that is denied when the file Until is there
	Until string
	Hosts []string // that are allowed when they are asked about
	Told  string   // file that gets a line for each file that is emptied, replaced or renamed, with what it holds by then
}

func testDecider(raw json.RawMessage) (Decider, error) {
	var p testPolicy
	if err := json.Unmarshal(raw, &p); err != nil {
		return nil, err
	}
	return func(_ context.Context, e *Exec) Answer {
		if e.Host != "" {
			return Answer{Allow: slices.Contains(p.Hosts, e.Host), Why: "nobody allows it"}
		}
		if e.Emptied != "" {
			return p.tell(e)
		}
		for _, d := range p.Deny {
			if filepath.Base(e.Path) == d || filepath.Base(e.Original) == d {
				return Answer{Rule: "bash(" + d + " *)", Why: d + " is denied"}
			}
		}
		for p.Hold != "" && filepath.Base(e.Path) == p.Hold {
			if _, err := os.Stat(p.Until); err == nil {
				return Answer{Rule: "bash(" + p.Hold + ")", Why: "somebody said no"}
			}
			time.Sleep(time.Millisecond)
		}
		return Answer{Allow: true}
	}, nil
}

// tell notes what is emptied, replaced or renamed. It is refused, which does not count.
func (p *testPolicy) tell(e *Exec) Answer {
	holds, err := os.ReadFile(e.Emptied)
	if err != nil {
		holds = []byte(err.Error())
	}
	f, err := os.OpenFile(p.Told, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err == nil {
		how := "emptied"
		switch {
		case e.Replaced:
			how = "replaced"
		case e.Moved != "":
			how = "to " + filepath.Base(e.Moved)
		}
		_, err = fmt.Fprintf(f, "%s %s %s\n", filepath.Base(e.Emptied), how, holds)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		panic(err)
	}
	return Answer{}
}
