package sandbox

import (
	"context"
	"encoding/json"
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
