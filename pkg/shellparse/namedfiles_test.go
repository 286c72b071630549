package shellparse

import (
	"slices"
	"strings"
	"testing"
)

// TestNamedByOptions lists what the options of compilers and their like write, read and start:
// an allow rule for the program lets no more of it through than an operand.
func TestNamedByOptions(t *testing.T) {
	b := newBench(t)
	for text, want := range map[string]string{
		"gcc -fdump-tree-all=deploy/x a.c":                        "write deploy/x",
		"gcc -fopt-info-vec=deploy/x a.c":                         "write deploy/x",
		"gcc -fdiagnostics-add-output=sarif:file=deploy/x a.c":    "write deploy/x",
		"gcc -fprofile-generate=deploy a.c":                       "write deploy",
		"gcc -save-temps -dumpbase deploy/x -c a.c":               "write deploy/x",
		"gcc --output=deploy/x a.c":                               "write deploy/x",
		"gcc -fauto-profile=private/x a.c":                        "read private/x",
		"gcc -Xassembler -al=deploy/x -c a.c":                     "opaque",
		"gcc -Wl,-Map=deploy/x a.c":                               "opaque",
		"gcc -Wall -Wlogical-op -Wpedantic -O2 -march=native a.c": "",
		"gcc -DX=a/b -fmacro-prefix-map=a=b -std=c99 a.c":         "",
		"clang -MJ deploy/x -c a.c":                               "write deploy/x",
		"clang -ftime-trace=deploy/x -c a.c":                      "write deploy/x",
		"clang -fpass-plugin=x.so -c a.c":                         "opaque",
		"as -al=deploy/x a.s":                                     "write deploy/x",
		"ld -odeploy/x a.o":                                       "write deploy/x",
		"ld --version-script=private/x a.o":                       "read private/x",
		"ld --error-handling-script=./x a.o":                      "opaque",
		"ld -Ttext 0x7c00 --oformat binary -shared a.o":           "",
		"objcopy a.o deploy/x":                                    "write deploy/x",
		"objcopy --dump-section .text=deploy/x a.o":               "write deploy/x",
		"objcopy --add-section a=private/x a.o b.o":               "read private/x",
		"ar --output=deploy x a.a":                                "write deploy",
		"openssl s_client -keylogfile deploy/x":                   "write deploy/x",
		"openssl storeutl file:private/x":                         "read private/x",
		"bsdtar -cf a.tar @private/x":                             "read private/x",
		"7z a -sdel a.7z deploy/x":                                "opaque",
		"yamllint -d '{extends: private/x}' a.yaml":               "read private/x",
		"yamllint -d '{extends: default}' a.yaml":                 "",
		"git stash push -m deploy/x src":                          "write src",
		"git stash -u -- deploy":                                  "write deploy",
		"split -l1 -a2 a openco --additional-suffix=.json":        "write opencode.json",
		"split -l1 a Jenkinsfi":                                   "write jenkinsfile",
		"split -a1 a pip.con":                                     "write pip.conf",
		"split a evil.":                                           "",
		"split -a3 a evil.":                                       "write evil.pth",
		"split big.tar.gz big.tar.gz.":                            "",
		"RANDFILE=deploy/x openssl rand 1":                        "opaque",
	} {
		p := Analyze(t.Context(), text, "bash", b.world())
		opaque := len(p.Opaque) > 0
		var got []string
		for _, a := range p.Accesses {
			opaque = opaque || a.Opaque != ""
			if a.Path != "" {
				got = append(got, string(a.Kind)+" "+strings.TrimPrefix(a.Path, b.root+"/"))
			}
		}
		switch {
		case want == "opaque":
			if !opaque {
				t.Errorf("%s: %q, and nothing unknown", text, got)
			}
		case want == "":
			if opaque || slices.ContainsFunc(got, func(s string) bool {
				return strings.Contains(s, "deploy") || strings.Contains(s, "private") || strings.Contains(s, "pth") || strings.Contains(s, " default")
			}) {
				t.Errorf("%s: %q, unknown %v", text, got, opaque)
			}
		case !slices.Contains(got, want):
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}
