package shellparse

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// ApplyPatch recognises a command line that does nothing but hand a patch to
// apply_patch, a program that agents of one family expect in their shell and
// that no machine has:
//
//	apply_patch <<'EOF'
//	*** Begin Patch
//	…
//	EOF
//
// also after cd DIR &&, with the patch as its one argument, under the name
// applypatch, or as the script of bash, sh or zsh with -c or -lc, of pwsh or
// powershell with -Command, before which -NoProfile may stand, and of cmd with /c. The
// patch is the text as it stands there: in a here-document nothing is expanded, whether
// its delimiter is quoted or not. dir is "" without cd. Anything more or other,
// be it a semicolon, is not recognised and remains a command of the shell.
//
// A here-document is recognised in a script of PowerShell or cmd, too, which have
// none: models write them there. What PowerShell has instead, see
// [ApplyPatchPowerShell], is recognised in its scripts only.
func ApplyPatch(command string) (dir, patch string, ok bool) {
	return applyPatch(command, true)
}

// ApplyPatchArgv is [ApplyPatch] for a program and its arguments.
func ApplyPatchArgv(argv []string) (dir, patch string, ok bool) {
	if len(argv) == 2 && isApplyPatch(argv[0]) {
		return "", argv[1], true
	}
	return applyPatchScript(argv)
}

// applyPatchScript is ApplyPatch for the script that argv hands to a shell.
func applyPatchScript(argv []string) (dir, patch string, ok bool) {
	if len(argv) < 3 {
		return "", "", false
	}
	name := argv[0][strings.LastIndexAny(argv[0], `/\`)+1:]
	option, script := argv[1], argv[len(argv)-1]
	switch name {
	case "bash", "sh", "zsh":
		if len(argv) != 3 || option != "-c" && option != "-lc" {
			return "", "", false
		}
		return applyPatch(script, false)
	}
	switch strings.TrimSuffix(strings.ToLower(name), ".exe") { // which Windows spells as it likes, with their options
	case "pwsh", "powershell":
		if len(argv) == 4 && strings.EqualFold(option, "-NoProfile") {
			option = argv[2]
		} else if len(argv) != 3 {
			return "", "", false
		}
		if !strings.EqualFold(option, "-Command") {
			return "", "", false
		}
		if dir, patch, ok = ApplyPatchPowerShell(script); ok {
			return dir, patch, true
		}
		return applyPatch(script, false)
	case "cmd":
		if len(argv) != 3 || !strings.EqualFold(option, "/c") {
			return "", "", false
		}
		return applyPatch(script, false)
	}
	return "", "", false
}

func isApplyPatch(name string) bool { return name == "apply_patch" || name == "applypatch" }

// applyPatch is ApplyPatch; wrapped says that the command may be a shell with
// a script.
func applyPatch(command string, wrapped bool) (dir, patch string, ok bool) {
	if len(command) > maxPatchCommand || !strings.Contains(command, "apply") {
		return "", "", false // most commands, without parsing them
	}
	f, err := parse(syntax.LangBash, command)
	if err != nil || len(f.Stmts) != 1 || !foreground(f.Stmts[0]) {
		return "", "", false
	}
	p := patchReader{command}
	switch c := f.Stmts[0].Cmd.(type) {
	case *syntax.BinaryCmd:
		if c.Op != syntax.AndStmt || !foreground(c.X) || !foreground(c.Y) || len(c.X.Redirs) > 0 {
			return "", "", false
		}
		words, ok := p.words(c.X.Cmd)
		if !ok || len(words) != 2 || words[0] != "cd" || words[1] == "" || words[1][0] == '-' {
			return "", "", false
		}
		patch, ok = p.patch(c.Y)
		return words[1], patch, ok
	case *syntax.CallExpr:
		if patch, ok = p.patch(f.Stmts[0]); ok {
			return "", patch, true
		}
		words, ok := p.words(c)
		if ok && wrapped && len(f.Stmts[0].Redirs) == 0 {
			return applyPatchScript(words)
		}
	}
	return "", "", false
}

// maxPatchCommand is the length in bytes of the longest command that is
// parsed: 16 MiB.
const maxPatchCommand = 16 << 20

// foreground reports whether a statement runs its command in the foreground and
// takes its status as it is.
func foreground(s *syntax.Stmt) bool {
	return !s.Negated && !s.Background && !s.Coprocess && !s.Disown && !s.Semicolon.IsValid()
}

// A patchReader reads parts of a command's source.
type patchReader struct{ src string }

// patch is the text that a statement gives to apply_patch.
func (p patchReader) patch(s *syntax.Stmt) (string, bool) {
	words, ok := p.words(s.Cmd)
	switch {
	case !ok || len(words) == 0 || !isApplyPatch(words[0]):
		return "", false
	case len(words) == 2 && len(s.Redirs) == 0:
		return words[1], true
	case len(words) != 1 || len(s.Redirs) != 1:
		return "", false
	}
	r := s.Redirs[0]
	if r.Op != syntax.Hdoc && r.Op != syntax.DashHdoc || r.N != nil && r.N.Value != "0" {
		return "", false
	}
	if r.Hdoc == nil || len(r.Hdoc.Parts) == 0 {
		return "", true
	}
	body := p.src[r.Hdoc.Pos().Offset():r.Hdoc.End().Offset()]
	body = body[:strings.LastIndexByte(body, '\n')+1] // the delimiter's line
	if r.Op == syntax.Hdoc {
		return body, true
	}
	var b strings.Builder // the shell takes the tabs off
	for line := range strings.Lines(body) {
		b.WriteString(strings.TrimLeft(line, "\t"))
	}
	return b.String(), true
}

// words are the words of a simple command without assignments, all of them
// known to the letter.
func (p patchReader) words(c syntax.Command) ([]string, bool) {
	call, ok := c.(*syntax.CallExpr)
	if !ok || len(call.Assigns) > 0 {
		return nil, false
	}
	var all []string
	for _, w := range call.Args {
		if len(w.Parts) != 1 {
			return nil, false
		}
		text, ok := fixedPart(w.Parts[0])
		if !ok || strings.Contains(text, "=") && isLit(w.Parts[0]) {
			return nil, false
		}
		all = append(all, text)
	}
	return all, true
}

func isLit(part syntax.WordPart) bool {
	_, ok := part.(*syntax.Lit)
	return ok
}
