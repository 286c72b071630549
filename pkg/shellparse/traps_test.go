package shellparse

import (
	"strings"
	"testing"

	"github.com/agentkit-go/agentkit/pkg/policy"
)

// TestTraps: what a trap deletes is known where the variable holds the same from the trap
// to the end, and only there.
func TestTraps(t *testing.T) {
	b := newBench(t)
	b.repo(t, "a.txt", "run.sh", "d/x")
	for command, known := range map[string]bool{
		`D=d; trap 'rm -rf "$D"' EXIT; ls "$D"`:                                    true,
		`D=d && trap 'rm -rf "$D"' EXIT && ls "$D"`:                                true,
		"D=d\nclean() { rm -rf \"$D\"; }\ntrap clean EXIT INT TERM\nls":            true,
		`D=d; trap 'rm -rf "$D"' EXIT; D=d`:                                        true,
		`trap 'rm -rf "$D"' EXIT; D=d`:                                             false, // it may run before
		`trap 'rm -rf "$D"' EXIT; D=d; trap 'echo' INT`:                            false,
		`D=d; trap 'rm -rf "$D"' EXIT; D=e`:                                        false,
		`D=d; trap 'rm -rf "$D"' EXIT; D=e; exit; D=d`:                             false,
		`D=d; trap 'rm -rf "$D"' EXIT; D+=/x`:                                      false,
		`D=d; trap 'rm -rf "$D"' EXIT; unset D`:                                    false,
		`D=d; trap 'rm -rf "$D"' EXIT; read D <a.txt`:                              false,
		`D=d; trap 'rm -rf "$D"' EXIT; x=D; read $x <a.txt`:                        false,
		`D=d; trap 'rm -rf "$D"' EXIT; printf -v D %s e`:                           false,
		`D=d; trap 'rm -rf "$D"' EXIT; mapfile -t D <a.txt`:                        false,
		`D=d; trap 'rm -rf "$D"' EXIT; export "$(cat a.txt)"`:                      false,
		`D=d; trap 'rm -rf "$D"' EXIT; eval "$(cat a.txt)"`:                        false,
		`D=d; trap 'rm -rf "$D"' EXIT; . ./gone.sh`:                                false,
		`(D=d; trap 'rm -rf "$D"' EXIT; eval "$(cat a.txt)")`:                      false,
		`D=e; (D=d; trap 'ls "$D"' EXIT); trap 'rm -rf "$D"' EXIT`:                 false,
		`D=d; trap 'rm -rf "$D"' EXIT; for D in a e; do :; done`:                   false,
		`D=d; trap 'rm -rf "$D"' EXIT; f() { D=e; }; f`:                            false,
		`D=d; trap 'rm -rf "$D"; D=e' EXIT INT`:                                    false,
		`if [ -f a.txt ]; then D=d; else D=e; fi; trap 'rm -rf "$D"' EXIT`:         false,
		`D=d; trap "bash -c 'rm -rf \"\$D\"'" EXIT`:                                false, // whether that shell has it is not known
		`D=d; bash -c 'trap "rm -rf \"\$D\"" EXIT'`:                                false,
		`D=d; trap 'rm -rf "$D"' EXIT; declare -n R=D; R=e`:                        false,
		`D=d; trap 'rm -rf "$D"' EXIT; true | while read -r D; do :; done`:         false,
		`D=d; trap 'rm -rf "$D"' EXIT; : "${D:=e}" "${D:-e}"; ls "$D"`:             true,
		`D=d; E=$(cat a.txt); trap 'rm -rf "$D/$E"' EXIT`:                          false,
		`D=d; trap 'rm -rf "$D"' EXIT; g() { eval "$(cat a.txt)"; }; g; echo "$D"`: false,
		`D=d; trap 'rm -rf "$D"' EXIT; echo "$(D=e; eval "$(cat a.txt)"; echo x)"`: false,
		`D=d; trap 'rm -rf "$D"' EXIT; cd ..`:                                      true,
		`D=./d; trap 'rm -rf "$D"' EXIT; cd ..`:                                    false, // of that directory
	} {
		command = strings.ReplaceAll(command, "D=d", "D="+b.root+"/d")
		got := false
		for _, a := range analyze(b, command).Accesses {
			if a.Kind == policy.Write && a.Op == policy.Delete {
				got = a.Opaque == "" && a.Path == b.root+"/d"
				break
			}
		}
		if got != known {
			t.Errorf("%s: known is %v, not %v", command, got, known)
		}
	}
}

// TestTrapPlaces: a trap is judged in each directory in which it may run, and what comes to the same is listed once.
func TestTrapPlaces(t *testing.T) {
	b := newBench(t)
	b.repo(t, "a.txt", "run.sh", "d/x", "d/e/x", "g/x")
	for command, want := range map[string]string{
		`trap 'echo x > o' EXIT; cd d`:                                    "o d/o",
		`trap 'echo x > o' 0; cd d && cd e`:                               "o d/o d/e/o",
		`trap 'echo x > o' EXIT`:                                          "o",
		`trap 'echo x > o' EXIT; (cd d); ls | (cd g; ls)`:                 "o",
		`trap 'echo x > o' EXIT; ls "$(cd d; ls)"; cd g & wait`:           "o",
		`(trap 'echo x > o' EXIT; cd d); cd g`:                            "o d/o",
		`(trap 'echo x > o' EXIT; cd d) & cd g`:                           "o d/o",
		`ls | { trap 'echo x > o' EXIT; cd d; }; cd g`:                    "o d/o",
		`bash -c "trap 'echo x > o' EXIT; cd d"; cd g`:                    "o d/o",
		`trap 'echo x > o' INT TERM; cd d && cd ../g`:                     "o d/o g/o",
		`trap 'echo x > o' EXIT; cd d && exit`:                            "o d/o",
		`trap 'echo x > o' EXIT; if ls; then cd d; else cd g; fi`:         "o d/o g/o",
		`trap 'echo x > o' EXIT; f() { cd d && ls && cd ..; }; f`:         "o d/o",
		`trap 'echo x > o' EXIT; pushd d; popd`:                           "o d/o",
		`trap 'echo x > o' EXIT; eval 'cd d'`:                             "o d/o",
		`f() { echo x > o; }; trap f EXIT; cd d`:                          "o d/o o d/o", // f is also read for itself
		`trap 'trap "echo x > o" EXIT; cd d' EXIT; cd g`:                  "o d/o g/o g/o g/d/o",
		`trap 'cd d; echo x > o' EXIT`:                                    "d/o",
		`trap 'cd d' USR1; echo x > o`:                                    "?",
		`trap 'cd d; exit 1' INT; echo x > o`:                             "o",
		`trap 'echo x > o' EXIT; read y; cd $y`:                           "o ?",
		`trap 'echo x > o' EXIT; for y in d g; do cd $y; ls; cd ..; done`: "o ?",
		`trap 'echo x > @/o' EXIT; cd d; read y; cd $y`:                   "o",
	} {
		var got []string
		for _, a := range analyze(b, strings.ReplaceAll(command, "@", b.root)).Accesses {
			switch {
			case a.Kind != policy.Write:
			case a.Opaque != "":
				got = append(got, "?")
			default:
				got = append(got, strings.TrimPrefix(a.Path, b.root+"/"))
			}
		}
		if s := strings.Join(got, " "); s != want {
			t.Errorf("%s: %s, not %s", command, s, want)
		}
	}
}
