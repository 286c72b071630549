//go:build linux && (amd64 || arm64)

package fork

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// TestChildCallsNobody disassembles what a child runs, as the compiler has made it
// for each machine: from where it forks on it calls itself and the raw system call
// and nothing else. So there is no growth of the stack, no write barrier, no
// allocation, no check that could panic, and no instrumentation.
func TestChildCallsNobody(t *testing.T) {
	for _, arch := range []string{"amd64", "arm64"} {
		t.Run(arch, func(t *testing.T) {
			t.Parallel()
			if testing.Short() && arch != runtime.GOARCH {
				t.Skip("takes long, and is left out with -short: Go's own packages are compiled for it")
			}
			checkChild(t, disassemble(t, "CGO_ENABLED=0", "GOARCH="+arch))
		})
	}
	t.Run("race", func(t *testing.T) {
		t.Parallel()
		if testing.Short() {
			t.Skip("takes long, and is left out with -short: Go's own packages are compiled for it")
		}
		if _, err := exec.LookPath("gcc"); err != nil || runtime.GOARCH != "amd64" {
			t.Skip("SKIPPED: an instrumented build needs a C compiler")
		}
		checkChild(t, disassemble(t, "CGO_ENABLED=1", "GOARCH=amd64", "-race"))
	})
}

const (
	packagePath = "github.com/agentkit-go/agentkit/pkg/fork."
	forks       = packagePath + "(*child).clone"
)

// checkChild follows every reference from the function that forks.
func checkChild(t *testing.T, code map[string][]string) {
	t.Helper()
	if len(code[forks]) == 0 {
		t.Fatalf("%s is not there; %d functions are", forks, len(code))
	}
	allowed := regexp.MustCompile(`^(` + regexp.QuoteMeta(packagePath) + `(\(\*(child|step)\)\.\w+|at|number|stackFor|madvise)` +
		`|syscall\.RawSyscall6|[\w/]+/syscall(/linux)?\.Syscall6)$`)
	reference := regexp.MustCompile(`([^\s,$]+)\(SB\)`)
	indirect := regexp.MustCompile(`^(CALL|JMP) \(?R?[0-9A-Z]+\)?$`)
	seen := []string{forks}
	calls := 0
	for i := 0; i < len(seen); i++ {
		for _, instruction := range code[seen[i]] {
			if indirect.MatchString(instruction) {
				t.Errorf("%s: %s: nobody can tell where to", seen[i], instruction)
			}
			for _, m := range reference.FindAllStringSubmatch(instruction, -1) {
				name := strings.TrimSuffix(m[1], ".abi0")
				if at := strings.LastIndexByte(name, '+'); at > 0 {
					name = name[:at]
				}
				if calls++; !allowed.MatchString(name) {
					t.Errorf("%s: %s", seen[i], instruction)
				} else if !slices.Contains(seen, name) {
					seen = append(seen, name)
				}
			}
		}
	}
	for _, want := range []string{"carryOut", "stay", "become", "resetSignals"} {
		if !slices.Contains(seen, packagePath+"(*child)."+want) {
			t.Errorf("%s is not reached: does the test look at the right program?", want)
		}
	}
	for _, name := range seen {
		if len(code[name]) == 0 {
			t.Errorf("%s was not disassembled", name)
		}
	}
	t.Logf("%d functions, %d references", len(seen), calls)
}

// disassemble builds the test's own program and returns the instructions of its
// functions by name.
func disassemble(t *testing.T, cgo, arch string, flags ...string) map[string][]string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "test")
	//nolint:noctx // bounded by the test's own limit
	build := exec.Command("go", slices.Concat([]string{"test", "-c", "-o", program}, flags, []string{"."})...)
	build.Env = append(os.Environ(), cgo, arch, "GOOS=linux")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	//nolint:noctx // the same
	out, err := exec.Command("go", "tool", "objdump", "-s", regexp.QuoteMeta(packagePath)+`|^syscall\.RawSyscall6|/syscall(/linux)?\.Syscall6`, program).Output()
	if err != nil {
		t.Fatal(err)
	}
	code := map[string][]string{}
	var name string
	for lines := bufio.NewScanner(bytes.NewReader(out)); lines.Scan(); {
		// TEXT pkg.function(SB) file, then lines of: place, address, bytes, instruction
		if rest, ok := strings.CutPrefix(lines.Text(), "TEXT "); ok {
			name, _, _ = strings.Cut(rest, "(SB)")
			name = strings.TrimSuffix(name, ".abi0")
			continue
		}
		if f := strings.FieldsFunc(lines.Text(), func(r rune) bool { return r == '\t' }); len(f) >= 4 {
			code[name] = append(code[name], strings.TrimSpace(f[len(f)-1]))
		}
	}
	return code
}
