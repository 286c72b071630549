//go:build linux && (amd64 || arm64)

package sandbox

import (
	"os"
	"syscall"
	"testing"
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
	argv := []string{"bash", "-c", command}
	attr := &syscall.ProcAttr{Dir: c.dir, Env: c.env, Files: []uintptr{0, 1, 2}}
	var pid int
	var err error
	if c.Level == L0 {
		pid, _, err = syscall.StartProcess("/bin/bash", argv, attr)
	} else {
		var p *Process
		decide, _ := testDecider([]byte(`{"Deny":["curl"]}`))
		if p, err = c.Start("/bin/bash", argv, attr, decide); err == nil {
			pid = p.Pid
		}
	}
	if err != nil {
		b.Fatal(err)
	}
	var w syscall.WaitStatus
	if _, err := syscall.Wait4(pid, &w, 0, nil); err != nil || w.ExitStatus() != 0 {
		b.Fatal(w, err)
	}
}
