package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"time"
)

// A linker makes test programs with one package broken without compiling what imports it
// anew, which the go command does whenever anything of a package has changed. What the
// importers know of a package is its export data; the linker refuses an archive whose
// export data is not the one that they were compiled with, and then the go command makes
// the program. So a mutation that reaches importers, as one of an inlined function does,
// is never lost.
type linker struct {
	mu    sync.Mutex
	bases map[string]*base // by tested package
}

// A base is how the test program of a package is linked as the product is.
type base struct {
	once    sync.Once
	dir     string   // of the go command's work, which holds what its cache does not
	command []string // the linker and its arguments, but for -o and -importcfg
	config  []byte   // which archive holds which package
}

// padding keeps the lines behind a mutation where they were: export data holds the lines
// of declarations.
func (m *mutation) padding() string {
	return strings.Repeat("\n", max(0, strings.Count(m.old, "\n")-strings.Count(m.now, "\n")))
}

// test runs the test of a mutation in a program in which the mutation's package alone was
// compiled anew. It reports false where that cannot be done.
func (l *linker) test(m mutation, overlay, dir string) (report string, done bool) {
	broken := "./" + path.Dir(m.file)
	if path.Clean(m.pkg) == path.Clean(broken) {
		return "", false
	}
	program, ok := l.link(m.pkg, broken, overlay, dir)
	if !ok {
		return "", false
	}
	limit, err := time.ParseDuration(m.limit)
	if err != nil {
		return "", false
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit+10*time.Second) // it ends itself, unless it cannot
	defer cancel()
	cmd := exec.CommandContext(ctx, program, "-test.v", "-test.failfast", "-test.paniconexit0", "-test.timeout="+m.limit, "-test.run", m.run)
	cmd.Dir = m.pkg
	cmd.Env = laid(cmd, overlay)
	cmd.WaitDelay = 10 * time.Second
	// What a test has started ends with it, also where it hangs and is ended itself.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	out, err := cmd.CombinedOutput()
	if cmd.Process != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	}
	if err == nil {
		return string(out) + "\nok " + m.pkg, true
	}
	return string(out) + fmt.Sprintf("\nFAIL %s: %v", m.pkg, err), true
}

// link makes the test program of a package with another one as the overlay has it.
func (l *linker) link(tested, broken, overlay, dir string) (program string, ok bool) {
	l.mu.Lock()
	if l.bases == nil {
		l.bases = map[string]*base{}
	}
	if l.bases[tested] == nil {
		l.bases[tested] = &base{}
	}
	b := l.bases[tested]
	l.mu.Unlock()
	b.once.Do(func() { b.make(tested, filepath.Join(dir, "base.test")) })
	if b.command == nil {
		return "", false
	}
	list := exec.Command("go", "list", "-export", "-f", "{{.ImportPath}}={{.Export}}", broken)
	list.Env = laid(list, overlay)
	out, err := list.Output()
	name, archive, _ := strings.Cut(strings.TrimSpace(string(out)), "=")
	if err != nil || archive == "" {
		return "", false
	}
	line := regexp.MustCompile(`(?m)^packagefile ` + regexp.QuoteMeta(name) + `=.*$`)
	if len(line.FindAllIndex(b.config, 2)) != 1 {
		return "", false
	}
	config := filepath.Join(dir, "importcfg")
	changed := line.ReplaceAllLiteral(b.config, []byte("packagefile "+name+"="+archive))
	if bytes.Equal(changed, b.config) || os.WriteFile(config, changed, 0o644) != nil {
		return "", false
	}
	program = filepath.Join(dir, "broken.test")
	cmd := exec.Command(b.command[0], append([]string{"-o", program, "-importcfg", config}, b.command[1:]...)...)
	return program, cmd.Run() == nil
}

// make has the go command make the test program of a package, and learns how it is linked.
func (b *base) make(tested, program string) {
	out, err := exec.Command("go", "test", "-c", "-vet=off", "-ldflags=-s -w", "-x", "-work", "-o", program, tested).CombinedOutput()
	work := regexp.MustCompile(`(?m)^WORK=(.+)$`).FindSubmatch(out)
	if work == nil {
		return
	}
	b.dir = string(work[1])
	link := regexp.MustCompile(`(?m)^(?:GOROOT=\S+ )?(\S+/link(?:\.exe)?) -o \S+ -importcfg (\S+) (.+)$`).FindAllSubmatch(out, -1)
	if err != nil || len(link) != 1 {
		return
	}
	here := strings.NewReplacer("$WORK", b.dir)
	if b.config, err = os.ReadFile(here.Replace(string(link[0][2]))); err != nil {
		return
	}
	b.command = append([]string{string(link[0][1])}, strings.Fields(here.Replace(string(link[0][3])))...)
}

// close removes what the go command has left.
func (l *linker) close() {
	for _, b := range l.bases {
		if b.dir != "" {
			_ = os.RemoveAll(b.dir)
		}
	}
}
