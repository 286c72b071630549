//go:build linux && (amd64 || arm64)

package sandbox

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// nestedArg has the test's own program run a shell command in a sandbox:
// ROOT MINIMUM COMMAND.
const nestedArg = "__nested"

func runNested(args []string) int {
	c := &Config{Root: args[0], Granted: args[:1], Gate: true, Policy: json.RawMessage(`{}`), Report: filepath.Join(args[0], "inner-report")}
	if err := c.Minimum.UnmarshalText([]byte(args[1])); err != nil {
		return 1
	}
	code, _ := runConfined(c, []string{"/bin/bash", "-c", args[2]})
	return code
}

// TestNested runs a sandbox in a sandbox. The outer gatekeeper decides for
// both, the inner one says so, and files are held by both.
func TestNested(t *testing.T) {
	t.Parallel()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	exe = reachable(t, exe)
	for _, uid := range users(t) {
		for _, level := range levels() {
			b := newBox(t, uid, level).denies("touch")
			inner := filepath.Join(b.dir, "sub")
			b.run(t, exe, nestedArg, inner, "L2", "cd "+inner+"; echo x >in; echo x >../escaped; touch t; test -s in && exit 7")
			if _, err := os.Stat(filepath.Join(b.dir, "escaped")); err == nil {
				t.Errorf("%s as %d: the inner sandbox holds nothing", level, uid)
			}
			report, err := ReadReport(filepath.Join(inner, "inner-report"))
			if err != nil || report.Level != L2 || !strings.Contains(fmt.Sprint(report.Mechanisms), "outer-gate") || len(report.Missing) == 0 {
				t.Errorf("%s as %d: %v, the inner report is %+v; %s", level, uid, err, report, b.stderr)
			}
			if b.state.ExitCode != 7 {
				t.Errorf("%s as %d: %+v %s", level, uid, b.state, b.stderr)
			}
			if len(b.report.Denials) != 1 || b.report.Denials[0].Path != "/usr/bin/touch" && b.report.Denials[0].Path != "/bin/touch" {
				t.Errorf("%s as %d: the outer gate denied %+v", level, uid, b.report.Denials)
			}
			b = newBox(t, uid, level)
			b.run(t, exe, nestedArg, filepath.Join(b.dir, "sub"), "L3", "true")
			if b.state.ExitCode != 125 || !strings.Contains(b.stderr, "out of reach") {
				t.Errorf("%s as %d: where L3 is required: %+v %s", level, uid, b.state, b.stderr)
			}
		}
	}
}

// TestMinimum shows that a level that cannot be had refuses, and one that
// need not be is named with the reason.
func TestMinimum(t *testing.T) {
	b := newBox(t, os.Getuid(), L1)
	b.Minimum = L2
	how, err := starting(&b.Config, reachable(t, os.Args[0]))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := how.Start(exec.Command("/bin/true")); err == nil {
		t.Error("it was started")
	}
	if r, err := ReadReport(b.Report); err != nil || r.Failed == "" || r.Level != L0 {
		t.Errorf("%v, %+v", err, r)
	}
}

// TestProbe shows that what is probed is what is reached.
func TestProbe(t *testing.T) {
	got := Probe()
	b := newBox(t, os.Getuid(), 0)
	b.Minimum = L0
	b.run(t, "/bin/true")
	if got.Level != b.report.Level {
		t.Errorf("the probe says %+v, a command got %+v", got, b.report)
	}
}
