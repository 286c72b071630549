package shellparse

import (
	"errors"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

func TestDecider(t *testing.T) {
	for src, want := range map[string]string{
		"grep x f":                    "grep x f",
		"cd sub; grep -q \"$x\" f":    "grep -q  f",
		"cat f | grep x":              "grep x",
		"false && grep x f":           "",
		"true || grep x f":            "",
		"cd sub && grep x f":          "",
		"(echo a; { diff a b; })":     "diff a b",
		"if true; then grep x f; fi":  "",
		"! grep x f":                  "",
		"grep x f &":                  "",
		"set -e; false; grep x f":     "",
		"set -o pipefail; a | grep x": "",
		"trap 'exit 1' EXIT; grep x":  "",
		"exit 1; grep x f":            "",
		"x=1":                         "",
		"grep '":                      "",
		"":                            "",
		"a | b && c | grep x":         "",
		"grep x <<< y":                "grep x",
		"grep() { false; }; grep x f": "",
	} {
		if got := strings.Join(Decider(src), " "); got != want {
			t.Errorf("%s: %q, not %q", src, got, want)
		}
	}
}

// TestDeciderInBash: what is said to have decided the status is run, and its status
// is the text's, in every list of three commands that lists can make.
func TestDeciderInBash(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("there is no bash to compare with")
	}
	sure := 0
	for _, x := range []string{"true", "false"} {
		for _, a := range []string{"; ", " && ", " || ", " | ", "\n"} {
			for _, b := range []string{"; ", " && ", " || ", " | "} {
				src := x + a + "(sh -c 'exit 3')" + b + "sh -c 'exit 7'"
				if slices.Equal(Decider(src), []string{"sh", "-c", ""}) {
					sure++
					err := exec.Command(bash, "-c", src).Run()
					if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != 7 {
						t.Errorf("%q ends with %v", src, err)
					}
				}
			}
		}
	}
	if sure < 10 {
		t.Errorf("only %d texts are sure", sure)
	}
}
