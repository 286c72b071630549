package main

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentkit-go/agentkit/cmd"
	"github.com/agentkit-go/agentkit/pkg/dialect"
	"github.com/agentkit-go/agentkit/pkg/tool"
)

// TestLazy: only the tool that is called is made, and nothing that belongs to others: each
// call works though all others would fail.
func TestLazy(t *testing.T) {
	made := map[string]int{}
	for _, one := range cmd.Tools {
		construct := one.New
		one.New = func() tool.Call { made[one.Name]++; return construct() }
		t.Cleanup(func() { one.New = construct })
	}
	dir := t.TempDir()
	for _, c := range []struct {
		args string
		want string // the tool that is made; "" for none
	}{
		{"ls .", "ls"}, {"glob *", "glob"}, {"todo", "todo"}, {"jobs", "jobs"}, {"undo --list", "undo"}, {"read absent", "read"}, {"--version", ""}, {"policy check --help", ""},
	} {
		clear(made)
		var out strings.Builder
		args := append([]string{"--root", dir, "--state", filepath.Join(dir, "state")}, strings.Fields(c.args)...)
		cmd.Main(t.Context(), func() {}, args, nil, &out, &out)
		for name := range made {
			if name != c.want {
				t.Errorf("%s has made %s", c.args, name)
			}
		}
		if c.want != "" && made[c.want] == 0 {
			t.Errorf("%s has not made %s: %s", c.args, c.want, out.String())
		}
	}
}

// TestIdsOfPlatforms: each name of another agent's tool, of whatever system, is decided as
// our tool that it stands for, and what is declared says whether it only reads, as that does.
func TestIdsOfPlatforms(t *testing.T) {
	for _, d := range dialects(t) {
		out, err := exec.CommandContext(t.Context(), build(t), "tools", "--dialect", d.Name, "--format", "json").Output()
		if err != nil {
			t.Fatalf("%s: %v", d.Name, err)
		}
		var declared []struct {
			Name     string `json:"name"`
			ReadOnly *bool  `json:"read_only"`
		}
		if err := json.Unmarshal(out, &declared); err != nil {
			t.Fatal(err)
		}
		listed := d.Listed()
		if len(listed) != len(declared) {
			t.Errorf("%s: %d tools are declared, of %d", d.Name, len(declared), len(listed))
		}
		for i, one := range declared {
			ours, err := cmd.Tools.Find(listed[i].To)
			if err != nil || one.Name != listed[i].Name || one.ReadOnly == nil {
				t.Fatalf("%s: %+v %v", d.Name, one, err)
			}
			if *one.ReadOnly && !ours.ReadOnly {
				t.Errorf("%s: %s is said to read only, and stands for %s", d.Name, one.Name, ours.Name)
			}
		}
	}
	codex, err := dialect.Find("codex")
	if err != nil {
		t.Fatal(err)
	}
	pairs := 0
	for i := range codex.Tools { // the two names of each have the same needs
		one := &codex.Tools[i]
		name, unix := strings.CutSuffix(one.Also, "-unix")
		for k := range codex.Tools {
			if other := &codex.Tools[k]; unix && other.Also == name+"-win" {
				if pairs++; other.To != one.To || other.Name != one.Name || len(other.Params) != len(one.Params) || other.Only == one.Only {
					t.Errorf("%s and %s differ: %+v", one.Also, other.Also, other)
				}
			}
		}
	}
	if pairs != 4 {
		t.Errorf("%d tools have a name for each system", pairs)
	}
}
