package shellparse

import (
	"context"
	"os/exec"
	"strings"
	"testing"
	"time"
)

const somePatch = "*** Begin Patch\n*** Add File: a$USER.txt\n+it's `x` \\ \"y\"\n+\n*** End Patch\n"

func TestApplyPatch(t *testing.T) {
	simple := "*** Begin Patch\n*** Delete File: a\n*** End Patch"
	for _, c := range []struct{ command, dir, patch string }{
		{"apply_patch <<'EOF'\n" + somePatch + "EOF", "", somePatch},
		{"apply_patch <<'EOF'\n" + somePatch + "EOF\n", "", somePatch},
		{"  applypatch<<\"PATCH\"\n" + somePatch + "PATCH\n\n", "", somePatch},
		{"apply_patch <<EOF\n" + somePatch + "EOF", "", somePatch},
		{"apply_patch <<\\EOF\n" + somePatch + "EOF", "", somePatch},
		{"apply_patch 0<<'EOF'\n" + somePatch + "EOF", "", somePatch},
		{"<<'EOF' apply_patch\n" + somePatch + "EOF", "", somePatch},
		{"apply_patch <<-'EOF'\n\t*** Begin Patch\n\t+x\n\tEOF", "", "*** Begin Patch\n+x\n"},
		{"apply_patch <<'EOF'\nEOF", "", ""},
		{"cd src && apply_patch <<'EOF'\n" + somePatch + "EOF", "src", somePatch},
		{"cd 'a b' && apply_patch <<'EOF'\n" + somePatch + "EOF", "a b", somePatch},
		{"cd \"/a/b c\" &&\napply_patch <<'EOF'\n" + somePatch + "EOF", "/a/b c", somePatch},
		{"apply_patch '" + simple + "'", "", simple},
		{"apply_patch \"" + simple + "\"", "", simple},
		{"bash -lc 'apply_patch <<EOF\n" + simple + "\nEOF'", "", simple + "\n"},
		{"/bin/bash -c \"cd x && apply_patch <<EOF\n" + simple + "\nEOF\n\"", "x", simple + "\n"},
		{"sh -c 'apply_patch \"" + simple + "\"'", "", simple},
		{"pwsh -NoProfile -Command 'apply_patch <<EOF\n" + simple + "\nEOF'", "", simple + "\n"},
		{"cmd /c \"cd x && apply_patch <<'EOF'\n" + simple + "\nEOF\"", "x", simple + "\n"},
		{"pwsh -Command \"apply_patch @'\n" + simple + "\n'@\"", "", simple + "\n"},
	} {
		dir, patch, ok := ApplyPatch(c.command)
		if !ok || dir != c.dir || patch != c.patch {
			t.Errorf("%q: %q %q %v", c.command, dir, patch, ok)
		}
	}
	for _, c := range []struct {
		argv       []string
		dir, patch string
	}{
		{[]string{"apply_patch", somePatch}, "", somePatch},
		{[]string{"applypatch", ""}, "", ""},
		{[]string{"bash", "-lc", "apply_patch <<'EOF'\n" + somePatch + "EOF"}, "", somePatch},
		{[]string{"zsh", "-c", "cd a && apply_patch '" + simple + "'"}, "a", simple},
		{[]string{"pwsh", "-Command", "apply_patch <<'EOF'\n" + somePatch + "EOF"}, "", somePatch},
		{[]string{"powershell.exe", "-noprofile", "-command", "cd a && apply_patch <<\"X\"\n" + somePatch + "X\n"}, "a", somePatch},
		{[]string{`C:\Program Files\PowerShell\7\pwsh.exe`, "-NoProfile", "-Command", "apply_patch @'\r\n" + strings.ReplaceAll(somePatch, "\n", "\r\n") + "'@\r\n"}, "", somePatch},
		{[]string{"PowerShell", "-Command", "@'\n" + somePatch + "'@ | apply_patch"}, "", somePatch},
		{[]string{"cmd", "/c", "apply_patch <<'EOF'\n" + somePatch + "EOF"}, "", somePatch},
		{[]string{`C:\Windows\System32\CMD.EXE`, "/C", "cd a && apply_patch <<'EOF'\n" + somePatch + "EOF"}, "a", somePatch},
	} {
		dir, patch, ok := ApplyPatchArgv(c.argv)
		if !ok || dir != c.dir || patch != c.patch {
			t.Errorf("%q: %q %q %v", c.argv, dir, patch, ok)
		}
	}
}

func TestApplyPatchNot(t *testing.T) {
	doc := " <<'EOF'\n*** Begin Patch\n*** End Patch\nEOF"
	for _, command := range []string{
		"", "apply_patch", "apply_patch a b" + doc, "apply_patch x" + doc, "apply_patch <patch.txt", "apply_patch <<<'x'",
		"git apply_patch" + doc, "./apply_patch" + doc, "/bin/apply_patch" + doc, "\\apply_patch" + doc, "apply_patch2" + doc,
		"apply_patch" + doc + "\nls", "ls; apply_patch" + doc, "ls\napply_patch" + doc, "apply_patch" + doc + "\n;", "echo hi && apply_patch" + doc,
		"apply_patch; true" + doc, "apply_patch || true" + doc, "apply_patch | cat" + doc, "apply_patch &" + doc, "! apply_patch" + doc,
		"cat x | apply_patch" + doc, "apply_patch >out" + doc, "apply_patch 3" + strings.TrimPrefix(doc, " "), "apply_patch 2>&1" + doc,
		"X=1 apply_patch" + doc, "env apply_patch" + doc, "sudo apply_patch" + doc, "time apply_patch" + doc, "(apply_patch" + doc + "\n)", "{ apply_patch" + doc + "\n}",
		"cd a && cd b && apply_patch" + doc, "cd a; apply_patch" + doc, "cd && apply_patch" + doc, "cd - && apply_patch" + doc, "cd -P a && apply_patch" + doc,
		"cd $HOME && apply_patch" + doc, "cd ~/x && apply_patch" + doc, "cd a* && apply_patch" + doc, "cd {a,b} && apply_patch" + doc, "cd \"$X\" && apply_patch" + doc,
		"cd a >x && apply_patch" + doc, "cd '' && apply_patch" + doc, "cd a || apply_patch" + doc, "cd `x` && apply_patch" + doc, "cd a && apply_patch" + doc + "\nls",
		"apply_patch \"$(cat x)\"", "apply_patch $PATCH", "apply_patch $'*** Begin Patch'", "apply_patch \"a\\nb\"", "apply_patch 'a''b'", "apply_patch *",
		"apply_patch <<'EOF'\n*** Begin Patch\n*** End Patch\n", "apply_patch <<EOF <<EOF\na\nEOF\nb\nEOF", "if true; then apply_patch" + doc + "\nfi", "f() { apply_patch" + doc + "\n}",
		"bash -lc 'apply_patch <<EOF\nx\nEOF' extra", "bash -x -c 'apply_patch x'", "bash -lc \"bash -lc 'apply_patch x'\"", "bash -lc 'apply_patch x' >out", "python -c 'apply_patch x'",
		"alias apply_patch=rm", "echo apply_patch" + doc, "apply_patch <<'EOF' && rm x\na\nEOF", "bash -lc 'apply_patch x; rm y'",
	} {
		if dir, patch, ok := ApplyPatch(command); ok {
			t.Errorf("%q is taken for a patch: %q %q", command, dir, patch)
		}
	}
	for _, argv := range [][]string{
		nil,
		{"apply_patch"},
		{"apply_patch", "a", "b"},
		{"./apply_patch", "a"},
		{"bash", "-lc"},
		{"bash", "-lc", "ls", "apply_patch"},
		{"env", "apply_patch", "x"},
		{"bash", "-lc", "bash -c 'apply_patch x'"},
		{"pwsh", "-Command", "Remove-Item x; apply_patch" + doc},
		{"pwsh", "-NoLogo", "-Command", "apply_patch" + doc},
		{"pwsh", "-NoProfile", "-NoProfile", "-Command", "apply_patch" + doc},
		{"pwsh", "-NoProfile", "-Command"},
		{"pwsh", "-File", "apply_patch x"},
		{"pwsh", "-c", "apply_patch" + doc},
		{"cmd", "/k", "apply_patch" + doc},
		{"cmd", "/c", "apply_patch", "x"},
		{"cmd", "/c", "apply_patch @'\nx\n'@"},
		{"bash", "-c", "apply_patch @'\nx\n'@"},
		{"./my-pwsh", "-Command", "apply_patch" + doc},
		{"cmd", "/c", "apply_patch" + doc + "\ndel x"},
	} {
		if _, _, ok := ApplyPatchArgv(argv); ok {
			t.Errorf("%q is taken for a patch", argv)
		}
	}
}

// TestApplyPatchPowerShell: what PowerShell hands to apply_patch as a here-string, and nothing else.
func TestApplyPatchPowerShell(t *testing.T) {
	for _, c := range []struct{ command, dir, patch string }{
		{"apply_patch @'\n" + somePatch + "'@", "", somePatch},
		{" applypatch  @'  \n" + somePatch + "'@ \n", "", somePatch},
		{"@'\r\n" + somePatch + "'@|apply_patch\r\n", "", somePatch},
		{"apply_patch @\"\nit's \"this\"\n \"@\n\"@", "", "it's \"this\"\n \"@\n"},
		{"apply_patch @'\n'@", "", ""},
		{"apply_patch @'\n@'\n '@ x\n'@", "", "@'\n '@ x\n"},
		{"cd src && apply_patch @'\n" + somePatch + "'@", "src", somePatch},
		{"cd 'a b' &&\n @'\n" + somePatch + "'@ | apply_patch", "a b", somePatch},
		{"cd \"C:/a b\" && apply_patch @'\nx\n'@", "C:/a b", "x\n"},
	} {
		dir, patch, ok := ApplyPatchPowerShell(c.command)
		if !ok || dir != c.dir || patch != c.patch {
			t.Errorf("%q: %q %q %v", c.command, dir, patch, ok)
		}
	}
	for _, command := range []string{
		"", "apply_patch", "apply_patch @'x'@", "apply_patch @'\nx", "apply_patch @'\nx'@", "apply_patch @'\nx\n '@", "apply_patch @'x\ny\n'@", "apply_patch x @'\nx\n'@", "apply_patch2 @'\nx\n'@",
		"apply_patch @'\nx\n'@; ls", "apply_patch @'\nx\n'@\nls", "apply_patch @'\nx\n'@ y", "apply_patch @'\nx\n'@ && ls", "apply_patch @'\nx\n'@ | ls", "apply_patch @'\nx\n'@\n'@", "ls; apply_patch @'\nx\n'@",
		"@'\nx\n'@ | apply_patch | ls", "@'\nx\n'@ | apply_patch; ls", "@'\nx\n'@ apply_patch", "@'\nx\n'@ | ls", "@'\nx\n'@", "& apply_patch @'\nx\n'@", ".\\apply_patch @'\nx\n'@", "apply_patch @('x\n')",
		"apply_patch @\"\n$(ls)\n\"@", "apply_patch @\"\na`nb\n\"@", "apply_patch @\"\nx\n'@", "apply_patch @'\nx\n\"@", "apply_patch @'\nx\n\u2019@\n'@", "apply_patch @'\nx\n''@\n'@", "apply_patch @\"\nx\n\u201d@\n\"@",
		"cd a; apply_patch @'\nx\n'@", "cd a || apply_patch @'\nx\n'@", "cd a && cd b && apply_patch @'\nx\n'@", "cd -Path && apply_patch @'\nx\n'@", "cd $x && apply_patch @'\nx\n'@", "cd \"$x\" && apply_patch @'\nx\n'@",
		"cd a b && apply_patch @'\nx\n'@", "cd 'a'b && apply_patch @'\nx\n'@", "cd ~ && apply_patch @'\nx\n'@", "cd (ls) && apply_patch @'\nx\n'@", "apply_patch <<'E'\nx\nE", "apply_patch @'\nx\n'@ >out",
	} {
		if dir, patch, ok := ApplyPatchPowerShell(command); ok {
			t.Errorf("%q is taken for a patch: %q %q", command, dir, patch)
		}
	}
}

// FuzzApplyPatch: where a patch is recognised, bash would have run nothing but
// apply_patch, once, and given it this text.
func FuzzApplyPatch(f *testing.F) {
	f.Add("cd a && apply_patch <<'EOF'\nx\nEOF\n")
	f.Add("bash -lc 'apply_patch \"x\"'")
	f.Add("apply_patch <<-\\A\n\tx\ny\nA")
	f.Add("apply_patch <<A\nx\nA\n#c")
	bash, err := exec.LookPath("bash")
	if err != nil {
		f.Skip("no bash: what it does is NOT compared")
	}
	f.Fuzz(func(t *testing.T, command string) {
		dir, patch, ok := ApplyPatch(command)
		if !ok || strings.ContainsAny(command, "\x00\r") || strings.ContainsAny(patch, "$`\\") {
			return // a here-document that bash would expand is taken as it is
		}
		if len(command) > 1000 || strings.Contains(command, "-lc") || strings.Contains(command, "-c") {
			return // a login shell reads more
		}
		// Functions stand in for all that may be run.
		script := `PATH=; cd() { printf 'cd<%s>' "$@"; }
apply_patch() { if [ $# = 0 ]; then t=; while IFS= read -r l; do t+=$l$'\n'; done; printf 'patch<%s>' "$t$l"; else printf 'patch<%s>' "$@"; fi; }
applypatch() { apply_patch "$@"; }
command_not_found_handle() { printf 'ran<%s>' "$@"; }
` + command
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		c := exec.CommandContext(ctx, bash, "--norc", "--noprofile", "-c", script)
		out, err := c.Output()
		want := "patch<" + patch + ">"
		if dir != "" {
			want = "cd<" + dir + ">" + want
		}
		if err != nil || string(out) != want {
			t.Errorf("%q: bash: %q %v, want %q", command, out, err, want)
		}
	})
}

// TestPlainArgv asks bash what it makes of a command that is taken for one
// program with its arguments.
func TestPlainArgv(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("bash is not installed, so there is nothing to compare with")
	}
	for _, command := range []string{
		"p", "p a b", "p 'a b' \"c d\"", "p --format=x -n1", "p --format='a b'c", `p "" ''`, "  p\ta  ", "p a#b", "p %s é", "p \"it's\"", "p -- -x", "p a\n",
	} {
		words, ok := PlainArgv(command)
		if !ok {
			t.Errorf("%q is not plain", command)
			continue
		}
		out, err := exec.Command(bash, "-c", `p() { printf '[%s]' p "$@"; }; `+command).Output()
		if want := "[" + strings.Join(words, "][") + "]"; err != nil || string(out) != want {
			t.Errorf("%q: %s, bash has %s, %v", command, want, out, err)
		}
	}
	for _, command := range []string{
		"", " ", "p;", "p; q", "p | q", "p && q", "p &", "! p", "p >x", "p <x", "A=1 p", "p $x", "p `q`", "p $(q)", "p *", "p a?", "p [ab]", "p {a,b}", "p ~", "p ~/x",
		`p a\ b`, `p "a\nb"`, `p "$x"`, `p $'x'`, "p =x", "=p", "''", "p\nq", "(p)", "{ p; }", "if p; then q; fi", "f() { p; }", "p 'x", "p # c\nq", "time p", "p \"a!b\"",
	} {
		if words, ok := PlainArgv(command); ok {
			t.Errorf("%q is taken for %q", command, words)
		}
	}
}

// TestLeadingArgv: only what runs before all else of its line is its leading program.
func TestLeadingArgv(t *testing.T) {
	for command, want := range map[string]string{
		"p a": "p a", "p -rf a && q": "p -rf a", "p a && q | r && s >x": "p a", "p 'a b' 2>/dev/null && q": "p a b", "p a >/dev/null 2>&1": "p a", "p a && (q; r)": "p a", "p a && { q || r; }": "p a",
		"p a; q": "", "p a || q": "", "p a && q || r": "", "p a | q && r": "", "p a & q": "", "p a && q &": "", "! p a": "", "! p a && q": "", "p a\nq": "", "(p a) && q": "", "p $a && q": "", "p * && q": "",
		"p a >x && q": "", "p a <x && q": "", "p a 2>/dev/nul && q": "", "A=$(q) p a": "", "p a <<<x && q": "", "p a <<E && q\nE\n": "", "p a 2>&$x": "", "p a <&1": "", "cd a && p b": "cd a", "": "",
	} {
		words, ok := LeadingArgv(command)
		if have := strings.Join(words, " "); have != want || ok != (want != "") {
			t.Errorf("%q: %q, not %q", command, have, want)
		}
	}
}
