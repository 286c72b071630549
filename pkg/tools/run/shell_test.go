package run

import (
	"cmp"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/agentkit-go/agentkit/pkg/machine"
	"github.com/agentkit-go/agentkit/pkg/safefile"
	"github.com/agentkit-go/agentkit/pkg/session"
	"github.com/agentkit-go/agentkit/pkg/tool"
	"github.com/agentkit-go/agentkit/pkg/workspace"
)

// TestParsesRunsNothing: a shell that runs what follows -c although it is told to read it only, as dash did to 0.5.11, is
// given the command another way.
func TestParsesRunsNothing(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has shells of its own")
	}
	dir := t.TempDir()
	old := filepath.Join(dir, "dash")
	script := "#!/bin/sh\n[ \"$2\" != -c ] || exec sh -c \"$3\"\nexec sh -n\n"
	if err := os.WriteFile(old, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	s := shell{path: old, kind: "sh"}
	ran := filepath.Join(dir, "ran")
	if err := s.parses(t.Context(), "touch "+ran+"\n("); err == nil {
		t.Error("no mistake was found")
	}
	if _, err := os.Lstat(ran); err == nil {
		t.Error("the command ran")
	}
	if err := s.parses(t.Context(), "touch "+ran); err != nil {
		t.Error(err)
	}
}

// TestFindShell: bash first, then $SHELL where it is one that can be used, then
// sh; and none that a call could have written.
func TestFindShell(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has shells of its own")
	}
	// Not below the directory for temporary files, whose shells do not count.
	system, err := os.MkdirTemp(".", "shells") //nolint:usetesting // see above
	if err == nil {
		system, err = filepath.Abs(system)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(system) })
	for _, dir := range machine.TempDirs(os.Getenv) {
		if safefile.Below(dir, system) {
			t.Skip("the sources lie in a directory for temporary files")
		}
	}
	root := t.TempDir()
	for _, dir := range []string{"all", "few", "none"} {
		if err := os.Mkdir(filepath.Join(system, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{
		system + "/all/bash", system + "/all/zsh", system + "/all/sh", system + "/all/fish", system + "/few/sh", system + "/few/dash",
		root + "/bash", root + "/sh",
	} {
		if err := os.WriteFile(name, []byte("#!/bin/sh\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	linked := t.TempDir()
	if err := os.Symlink("/bin/sh", linked+"/sh"); err != nil {
		t.Fatal(err)
	}
	w, err := workspace.Open(root, workspace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	state, err := session.Open(session.Options{State: filepath.Join(t.TempDir(), "state"), Root: root})
	if err != nil {
		t.Fatal(err)
	}
	all, few := filepath.Join(system, "all"), filepath.Join(system, "few")
	list := string(filepath.ListSeparator)
	for _, c := range []struct {
		name, path, shell, wanted string
		file, kind                string
		unknown                   bool
	}{
		{name: "bash first", path: all, shell: all + "/zsh", file: all + "/bash", kind: "bash"},
		{name: "$SHELL where there is no bash", path: few, shell: all + "/zsh", file: all + "/zsh", kind: "zsh"},
		{name: "$SHELL of another language", path: few, shell: all + "/fish", file: few + "/sh", kind: "sh"},
		{name: "$SHELL in the root", path: few, shell: root + "/bash", file: few + "/sh", kind: "sh"},
		{name: "$SHELL that is not there", path: few, shell: all + "/ksh", file: few + "/sh", kind: "sh"},
		{name: "relative entries of PATH", path: "." + list + few, file: few + "/sh", kind: "sh"},
		{name: "entries of PATH in the root", path: root + list + all, file: all + "/bash", kind: "bash"},
		{name: "links that a call can turn", path: linked + list + few, file: few + "/sh", kind: "sh"},
		{name: "by name", path: few + list + all, wanted: "zsh", file: all + "/zsh", kind: "zsh"},
		{name: "dash reads as sh does", path: few, wanted: "dash", file: few + "/dash", kind: "sh"},
		{name: "by the path that PATH leads to", path: all, wanted: all + "/zsh", file: all + "/zsh", kind: "zsh"},
		{name: "by $SHELL's path", path: few, shell: all + "/zsh", wanted: all + "/zsh", file: all + "/zsh", kind: "zsh"},
		{name: "by another path", path: few, wanted: all + "/zsh", file: all + "/zsh", kind: "zsh", unknown: true},
		{name: "by a path in the root", path: all, wanted: root + "/bash", file: root + "/bash", kind: "bash", unknown: true},
		{name: "by a relative path", path: all, wanted: "./bash", file: root + "/bash", kind: "bash", unknown: true},
		{name: "another language", path: all, wanted: "fish"},
		{name: "not there", path: few, wanted: "zsh"},
		{name: "not a shell", path: all, wanted: all + "/cat"},
	} {
		env := &tool.Env{Workspace: w, Session: state, Temp: machine.TempDirs(os.Getenv), Getenv: func(name string) string {
			return map[string]string{"PATH": c.path, "SHELL": c.shell, "TMPDIR": os.TempDir()}[name]
		}}
		got, err := findShell(env, c.wanted)
		got.called = ""
		if want := (shell{path: c.file, kind: c.kind, unknown: c.unknown}); got != want || (err != nil) != (c.file == "") {
			t.Errorf("%s: %+v %v, want %+v", c.name, got, err, want)
		}
	}
}

// TestShellName: what a shell says begins with the name that it is called by, and the command of a job is found
// beside it.
func TestShellName(t *testing.T) {
	for _, test := range []struct {
		shell shell
		login bool
		last  string
	}{
		{shell{path: "/usr/bin/bash", kind: "bash", called: "bash"}, false, "bash"},
		{shell{path: "/usr/bin/bash", kind: "bash", called: "bash"}, true, "bash"},
		{shell{path: "/bin/sh", kind: "sh", called: "/bin/sh"}, false, ""},
		{shell{path: "/usr/bin/zsh", kind: "zsh"}, false, ""},
	} {
		for _, command := range []string{"echo a", "-c", "bash"} {
			argv := test.shell.argv(command, test.login)
			if got := commandIn(argv); got != command {
				t.Errorf("%q: %q", argv, got)
			}
			if got := argv[len(argv)-1]; got != cmp.Or(test.last, command) {
				t.Errorf("%q ends in %q", argv, got)
			}
		}
	}
}
