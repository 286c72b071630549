package policy

import (
	"os"
	"path/filepath"
	"testing"
)

// TestCarried: at another machine the caller's files decide as they do here, that of the
// machine only where it is stricter, and those of its user not at all.
func TestCarried(t *testing.T) {
	dir := t.TempDir()
	put := func(name, text string) string {
		t.Helper()
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	put("ours/machine/policy.toml", "version = 1\nallow = [\"edit(/none/ours/**)\"]\ndeny = [\"edit(ours/**)\"]\n")
	put("ours/user/policy.yml", "version: 1\nallow: [edit(theirs/**), \"bash(make *)\"]\noutside: {write: allow}\n")
	extra := put("ours/my policy.json", `{"version":1,"deny":["edit(extra/**)"]}`)
	put("theirs/machine/policy.yaml", "version: 1\nprofile: open\nallow: [edit(ours/**)]\nask: [edit(asked/**)]\ndeny: [edit(theirs/**)]\noutside: {write: deny}\n")
	put("theirs/user/policy.yaml", "version: 1\ndeny: [edit(user/**)]\n")
	put("root/.agentkit/policy.yaml", "version: 1\nallow: [edit(asked/**)]\ndeny: [edit(project/**)]\n")

	there := func(files ...string) *Policy {
		t.Helper()
		here := &Sources{Machine: filepath.Join(dir, "ours/machine"), User: filepath.Join(dir, "ours/user"), Files: files}
		list, err := here.Carried()
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range list {
			put(filepath.Join("state/caller", c.Name), string(c.Text))
		}
		s := &Sources{
			Machine: filepath.Join(dir, "theirs/machine"), User: filepath.Join(dir, "theirs/user"), Project: filepath.Join(dir, "root/.agentkit"),
			Root: filepath.Join(dir, "root"), State: filepath.Join(dir, "state"), Allow: []string{"edit(theirs/**)", "edit(/none/granted/**)"}, Level: 3,
		}
		s.Settle(filepath.Join(dir, "state/caller"), list)
		p, err := Load(s)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	check := func(p *Policy, path string, want Verdict) {
		t.Helper()
		if !filepath.IsAbs(path) {
			path = filepath.Join(dir, "root", path)
		}
		if d := p.Decide(&Access{Kind: Write, Path: path, Named: path}); d.Verdict != want {
			t.Errorf("%s: %s by %s (%s), want %s", path, d.Verdict, d.Rule, d.Why, want)
		}
	}
	p := there()
	check(p, "free", Allow)
	check(p, "ours/x", Deny)    // our machine's, whatever theirs allows
	check(p, "theirs/x", Deny)  // theirs, whatever we allow and grant
	check(p, "asked/x", Ask)    // theirs, and no project's file lifts it
	check(p, "project/x", Deny) // the project's
	check(p, "user/x", Allow)   // not their user's
	check(p, "/usr/local/x", Deny)
	check(p, "/none/granted/x", Deny) // their machine's choice, which no grant of ours lifts
	check(p, "/none/ours/x", Deny)    // nor a rule of our machine
	if p = there(extra); true {
		check(p, "extra/x", Deny)
		check(p, "ours/x", Deny)
		check(p, "project/x", Allow) // --policy stands in the place of the user's and the project's
	}
	if _, err := (&Sources{Files: []string{filepath.Join(dir, "none")}}).Carried(); err == nil {
		t.Error("a file that is not there went along")
	}
}

// TestOwnConfiguration: calls from another place cannot write what decides calls that are made here.
func TestOwnConfiguration(t *testing.T) {
	dir := t.TempDir()
	s := &Sources{User: filepath.Join(dir, "config"), Root: filepath.Join(dir, "root"), State: filepath.Join(dir, "state"), Profile: "open"}
	s.Settle(filepath.Join(dir, "state", "caller"), nil)
	p, err := Load(s)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]Verdict{"config/policy.yaml": Deny, "config/trust.json": Deny, "else/policy.yaml": Ask} {
		name = filepath.Join(dir, filepath.FromSlash(name))
		if d := p.Decide(&Access{Kind: Write, Path: name, Named: name}); d.Verdict != want {
			t.Errorf("%s: %s by %s, want %s", name, d.Verdict, d.Rule, want)
		}
	}
}

// TestCalled: at another place a rule is said to stand in the file that its caller knows.
func TestCalled(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "mine.yaml")
	if err := os.WriteFile(file, []byte("version: 1\ndeny: [edit(x)]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	list, err := (&Sources{Files: []string{file}}).Carried()
	if err != nil {
		t.Fatal(err)
	}
	s := &Sources{Root: filepath.Join(dir, "root"), State: filepath.Join(dir, "state")}
	there := filepath.Join(dir, "caller")
	copied := filepath.Join(there, filepath.FromSlash(list[0].Name))
	if err := os.MkdirAll(filepath.Dir(copied), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(copied, list[0].Text, 0o600); err != nil {
		t.Fatal(err)
	}
	s.Settle(there, list)
	p, err := Load(s)
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, "root", "x")
	if d := p.Decide(&Access{Kind: Write, Path: name, Named: name}); d.File != file || d.Line != 2 {
		t.Errorf("%s:%d, want %s:2", d.File, d.Line, file)
	}
	for _, wrong := range []Sources{{Allow: []string{"bash(("}}, {Files: []string{filepath.Join(dir, "none")}}, {Profile: "odd"}} {
		if _, err := wrong.Carried(); err == nil {
			t.Errorf("%+v goes along", wrong)
		}
	}
}
