package run

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/windows"

	"github.com/agentkit-go/agentkit/pkg/machine"
	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/tool"
	"github.com/agentkit-go/agentkit/pkg/workspace"
)

// TestFindShellOfWindows: cmd where there is no PowerShell; in whatever case
// its name is written; and none that a call could have written.
func TestFindShellOfWindows(t *testing.T) {
	system, err := windows.GetSystemDirectory()
	if err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	if err := os.WriteFile(filepath.Join(root, "cmd.exe"), []byte("MZ"), 0o600); err != nil {
		t.Fatal(err)
	}
	w, err := workspace.Open(root, workspace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Close)
	own := filepath.Join(system, "cmd.exe")
	for _, c := range []struct {
		name, path, wanted string
		file               string
		unknown            bool
	}{
		{name: "none asked for", path: system, file: own},
		{name: "PATH leads to the root first", path: root + ";" + system, file: own},
		{name: "by name", path: system, wanted: "cmd", file: own},
		{name: "by its name in capitals", path: system, wanted: "CMD.EXE", file: own},
		{name: "by its path in capitals", wanted: strings.ToUpper(own), file: own},
		{name: "by a path in the root", path: system, wanted: `.\cmd.exe`, file: filepath.Join(w.Root(), "cmd.exe"), unknown: true},
		{name: "PowerShell that is not there", path: system, wanted: "pwsh"},
	} {
		env := &tool.Env{Workspace: w, Temp: machine.TempDirs(os.Getenv), Getenv: func(name string) string {
			return map[string]string{"PATH": c.path, "TEMP": os.TempDir()}[name]
		}}
		got, err := findShell(env, c.wanted)
		if (err != nil) != (c.file == "") || !strings.EqualFold(got.path, c.file) || got.unknown != c.unknown || err == nil && got.kind != "cmd" {
			t.Errorf("%s: %+v %v, want %s", c.name, got, err, c.file)
		}
	}
}

// TestVariablesInAnyCase: a call that sets PATH replaces Path.
func TestVariablesInAnyCase(t *testing.T) {
	p, err := policy.Load(&policy.Sources{Root: `C:\proj`, State: `C:\state`})
	if err != nil {
		t.Fatal(err)
	}
	env := &tool.Env{Policy: p, Environ: func() []string { return []string{`Path=C:\old`, "Pwd=x", "Other=1"} }}
	e := newEnvironment(env, `C:\proj`, false, false, map[string]string{"PATH": `C:\new`})
	for entry, want := range map[string]bool{`PATH=C:\new`: true, `Path=C:\old`: false, `PWD=C:\proj`: true, "Pwd=x": false, "Other=1": true} {
		if slices.Contains(e.list, entry) != want {
			t.Errorf("%s: %v in %q", entry, !want, e.list)
		}
	}
}
