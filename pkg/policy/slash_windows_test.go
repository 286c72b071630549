package policy

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestProgramsInAnotherCase: PATH spells directories in another case than they
// have, and so may whoever wants to get past a rule.
func TestProgramsInAnotherCase(t *testing.T) {
	file := filepath.Join(t.TempDir(), "policy.yaml")
	text := "version: 1\nallow: ['bash(where *)']\ndeny: ['bash(C:/Tools/Format-All.exe *)']\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := Load(&Sources{
		Root: `C:\Windows\System32\proj`, State: `C:\state`, Files: []string{file},
		Trusted: []string{`C:\Windows\System32`}, Temp: []string{`C:\Windows\System32\Temp`},
	})
	if err != nil {
		t.Fatal(err)
	}
	for program, want := range map[string]Verdict{
		`C:\Windows\System32\where.exe`:      Allow,
		`C:\WINDOWS\system32\WHERE.EXE`:      Allow,
		`C:\Windows\System32\PROJ\where.exe`: Ask,
		`c:\windows\system32\temp\where.exe`: Ask,
		`C:\Tools\Format-All.exe`:            Deny,
		`c:\tools\FORMAT-ALL.EXE`:            Deny,
	} {
		a := Access{Kind: Exec, Tool: "bash", Argv: []string{"where", "x"}, Program: program, Class: Unknown}
		if want == Deny {
			a.Argv[0] = program
		}
		if got := p.Decide(&a); got.Verdict != want {
			t.Errorf("%s: %v (%s), want %v", program, got.Verdict, got.Why, want)
		}
	}
}

// TestLongPaths: a path may be long, the names in it not.
func TestLongPaths(t *testing.T) {
	p, err := Load(&Sources{Root: `C:\proj`, State: `C:\state`})
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]Verdict{
		`C:\proj\` + strings.Repeat(strings.Repeat("a", 100)+`\`, 5) + "x": Allow,
		`C:\proj\` + strings.Repeat("漢", 200):                              Allow,
		`C:\proj\` + strings.Repeat("a", 300):                              Deny,
	} {
		if got := p.Decide(&Access{Kind: Read, Tool: "read", Path: path, File: Regular}); got.Verdict != want {
			t.Errorf("%d bytes: %v (%s), want %v", len(path), got.Verdict, got.Why, want)
		}
	}
}
