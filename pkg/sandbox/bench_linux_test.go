//go:build linux && (amd64 || arm64)

package sandbox

import (
	"os"
	"os/exec"
	"testing"

	"github.com/agentkit-go/agentkit/pkg/killtree"
)

// BenchmarkStart starts bash -c true, plain and at each level: what the
// sandbox itself adds.
func BenchmarkStart(b *testing.B) {
	for _, level := range []Level{L0, L2, L3} {
		b.Run(level.String(), func(b *testing.B) {
			c := newBox(b, os.Getuid(), level)
			c.Report, c.Hidden = "", nil
			for b.Loop() {
				benchStart(b, c, "true")
			}
		})
	}
}

// BenchmarkExec starts 200 programs within one command.
func BenchmarkExec(b *testing.B) {
	for _, level := range []Level{L0, L2, L3} {
		b.Run(level.String(), func(b *testing.B) {
			c := newBox(b, os.Getuid(), level)
			c.Report = ""
			for b.Loop() {
				benchStart(b, c, "for i in {1..200}; do /bin/true; done")
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/200, "µs/exec")
		})
	}
}

func benchStart(b *testing.B, c *box, command string) {
	how := killtree.Options{Self: os.Args[0]}
	if c.Level != L0 {
		var err error
		if how, err = starting(&c.denies("curl").Config, os.Args[0]); err != nil {
			b.Fatal(err)
		}
	}
	//nolint:noctx // awaited below
	cmd := exec.Command("/bin/bash", "-c", command)
	cmd.Dir, cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = c.dir, c.env, os.Stdin, os.Stdout, os.Stderr
	tree, err := how.Start(cmd)
	if err != nil {
		b.Fatal(err)
	}
	if <-tree.Exited(); tree.State().ExitCode != 0 {
		b.Fatal(tree.State())
	}
}
