package shellparse

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/safefile"
)

// TestWhereTheShellIs compares, for texts that end with cat f, the directories
// that the analysis reads f in with the one that bash reads it in.
func TestWhereTheShellIs(t *testing.T) {
	b := newBench(t)
	must(t, os.MkdirAll(b.root+"/x/y/z", 0o755))
	must(t, os.MkdirAll(b.root+"/a", 0o755))
	must(t, os.Symlink("../x/y/z", b.root+"/a/l"))
	texts := `
cd a/l && cd .. && cat f
cd a/l; cd ../..; cat f
cd a/l/..; cat f
cd a/l/../..; cat f
cd a/l; cd -P ..; cat f
cd -P a/l; cd ..; cat f
cd a; cd l; cd ..; cat f
cd a/l && cd ../../.. && cat f
cd a/l && cd ../../../.. && cat f
cd $PWD/a/l/.. && cat f
cd "$PWD"/a/l; cd "$PWD"/..; cat f
cd a/l; cd x; cd ..; cat f
cd a/l; cat ../f
cd link; cd ..; cat f
pushd a/l; cd ..; cat f
pushd a/l; popd; cat f
cd a/l; cd ..; cd -; cat f
cd a/l; (cd ..; cat f)
if cd a/l; then cd ..; fi; cat f
f() { cd a/l; }; f; cd ..; cat f
cd a/l; cd .; cat f
cd a/l; cd ./..; cat f
cd a/l; d=..; cd $d; cat f
cd a/l; cat "$(pwd)/../f"
cd a/l; cat $PWD/../f
cd a/l; cat ~+/../f
cd no/where || return; cat ../../f
cd no/where || logout; cat ../../f
cd no/where || exit --help; cat ../../f
cd no/where || exit -x; cat ../../f
cd no/where || exit; cat ../../f
cd no/where || exit >/no/such/file; cat ../../f
cd no/where || { exit; } </no/such/file; cat ../../f
cd no/where || if :; then exit; fi </no/such/file; cat ../../f
cd no/where || exec; cat ../../f
cd no/where || exec -z ls; cat ../../f
cd no/where || exec --help; cat ../../f
cd no/where || exec 2>&1; cat ../../f
cd no/where || (exit); cat ../../f
cd no/where || exit | :; cat ../../f
cd no/where || ! return; cat ../../f
cd no/where || command return; cat ../../f
f() { cd no/where || return; }; f; cat ../../f
f() { cd no/where || return; cat ../../f; }; f; cat f
f() { if ! cd no/where; then return; fi; }; f; cat ../../f
f() { for i in 1 2; do cd no/where || return; done; }; f; cat ../../f
g() { return; }; f() { cd no/where || g; cat ../../f; }; f
exit() { :; }; cd no/where || exit; cat ../../f
eval 'cd no/where || return'; cat ../../f
cd no/where || shift 9; cat ../../f
`
	seen := 0
	for text := range strings.SplitSeq(strings.TrimSpace(texts), "\n") {
		cmd := exec.Command(bashPath(t), "--norc", "-c", "cat() { local d; d=$(command cd -P \"$(dirname \"$1\")\" && pwd -P) && echo \"at:$d\"; }\n"+text)
		cmd.Dir = b.root
		cmd.Env = []string{"HOME=" + b.home, "PATH=" + os.Getenv("PATH"), "PWD=" + b.root}
		out, _ := cmd.Output()
		var at []string
		for line := range strings.Lines(string(out)) {
			if d, ok := strings.CutPrefix(strings.TrimSpace(line), "at:"); ok {
				at = append(at, d)
			}
		}
		if len(at) > 0 {
			seen++
		}
		a := analyze(b, text)
		for _, d := range at {
			ok := len(a.Opaque) > 0
			for _, x := range a.Accesses {
				ok = ok || x.Kind == policy.Read && x.Path == filepath.Join(d, "f")
			}
			if !ok {
				t.Errorf("%s\nreads f in %s, unseen\n%s", text, d, dump(a))
			}
		}
	}
	if seen < 40 {
		t.Errorf("bash read the file in %d texts only", seen)
	}
	for _, text := range []string{"cd src && cat ../f", "cd src || exit 1; cat a.ts", "f() { cd src || return 1; cat a.ts; }; f", "cd x/y/z && cd ../.. && cat ../f"} {
		if a := analyze(b, text); len(a.Opaque) > 0 {
			t.Errorf("%s: opaque: %s", text, a.Opaque)
		} else {
			for _, x := range a.Accesses {
				if x.Kind == policy.Read && !safefile.Below(b.root, x.Path) {
					t.Errorf("%s: reads %s", text, x.Path)
				}
			}
		}
	}
}
