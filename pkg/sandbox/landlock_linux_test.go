//go:build linux && (amd64 || arm64)

package sandbox

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/agentkit-go/agentkit/pkg/fork"
)

// TestSwappedForLink: a path that has become a link since the rules were written opens
// nothing where that leads, whoever makes the rules, we or the child.
func TestSwappedForLink(t *testing.T) {
	dir := t.TempDir()
	secret, link := filepath.Join(dir, "secret"), filepath.Join(dir, "link")
	if err := errors.Join(os.WriteFile(secret, nil, 0o644), os.Symlink("secret", link)); err != nil {
		t.Fatal(err)
	}
	abi := landlockABI()
	if abi == 0 {
		t.Skip("SKIPPED: there is no Landlock here")
	}
	for name, rule := range map[string]func(r *ruleset){
		"the file itself": func(r *ruleset) { r.allow(link, mayRead&onFiles) },
		"a link now":      func(r *ruleset) { r.allowHere(link, mayRead&onFiles) },
	} {
		r := newRuleset(abi)
		rule(r)
		byChild := &plan{}
		byChild.Do("no_new_privs", unix.SYS_PRCTL, unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
		byChild.landlock(r)
		r = newRuleset(abi)
		ours, err := r.share(rule)
		if err == nil {
			err = <-ours.done
		}
		if err != nil {
			t.Fatal(err)
		}
		byUs := &plan{}
		byUs.Do("no_new_privs", unix.SYS_PRCTL, unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
		byUs.Do("landlock_restrict_self", unix.SYS_LANDLOCK_RESTRICT_SELF, ours.fd, 0)
		for who, p := range map[string]*plan{"the child": byChild, "we": byUs} {
			const opens = "opening the secret"
			p.Do(opens, unix.SYS_OPENAT, unix.AT_FDCWD, secret, unix.O_RDONLY, 0)
			step, errno := ended(t, &p.Plan)
			if closed := step == opens && errno == unix.EACCES; closed != (name == "a link now") || !closed && step != "" {
				t.Errorf("%s, rules by %s: %q %v", name, who, step, errno)
			}
		}
		_ = unix.Close(ours.fd)
	}
}

// ended forks p and returns the step that failed; "" for none.
func ended(t *testing.T, p *fork.Plan) (string, unix.Errno) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	pid, errno := p.Fork(0, int(w.Fd()))
	if err := errors.Join(w.Close()); err != nil || errno != 0 {
		t.Fatal(err, errno)
	}
	msg := make([]byte, fork.FailureSize)
	if n, err := r.Read(msg); n != len(msg) || err != nil {
		t.Fatal(n, err)
	}
	if _, err := unix.Wait4(pid, nil, 0, nil); err != nil {
		t.Fatal(err)
	}
	return fork.Explain(msg, nil, p)
}
