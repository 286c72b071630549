package loss

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/programs"
	"github.com/agentkit-go/agentkit/pkg/sandbox"
	"github.com/agentkit-go/agentkit/pkg/steps"
)

// What git takes away is kept when it starts, and not once more when it goes. That holds for git itself, whose words say what
// it does: not for another program of its name, one that other code is loaded into, or an alias, which is known once the git starts
// that it stands for.

// Begins notes a program that starts. Of git, kept keeps what it takes away, and is false where not all of that could be.
func (l *Watcher) Begins(e *sandbox.Exec, kept func(part bool) bool) {
	isGit := startedProgram(e) == "git"
	l.gits.Lock()
	_, before := l.gits.work[e.Pid] // a hook whose last command takes its place
	if !isGit && len(l.gits.work) > 0 {
		l.gits.work[e.Pid] = false
	}
	l.gits.Unlock()
	if !isGit {
		return
	}
	part := !before && l.startedByGit(e)
	sub, _ := steps.Git(e.Argv)
	known := part || programs.KnownGit(sub)
	is := kept(part) && known && l.isGit(e)
	l.gits.Lock()
	defer l.gits.Unlock()
	if l.gits.work == nil {
		l.gits.work = map[int]bool{}
	}
	l.gits.work[e.Pid] = is
}

// isGit reports whether git's own program starts, and nothing beside it.
func (l *Watcher) isGit(e *sandbox.Exec) bool {
	if e.Loaded || e.InMemory || e.Environ == nil {
		return false
	}
	l.gits.Lock()
	if !l.gits.looked && l.Env.Git != nil {
		program, _ := filepath.EvalSymlinks(l.Env.Git.Git())
		for _, name := range []string{program, filepath.Join(program, "../../lib/git-core/git"), filepath.Join(program, "../../libexec/git-core/git")} {
			if info, err := os.Stat(name); program != "" && err == nil {
				l.gits.programs = append(l.gits.programs, info)
			}
		}
		l.gits.looked = true
	}
	list := l.gits.programs
	l.gits.Unlock()
	if slices.ContainsFunc(e.Environ(), func(v string) bool { return strings.HasPrefix(v, "LD_") || strings.HasPrefix(v, "GCONV_PATH=") }) {
		return false
	}
	its, err := os.Stat(e.Path)
	return err == nil && slices.ContainsFunc(list, func(is fs.FileInfo) bool { return os.SameFile(its, is) })
}

// byGit reports whether a process is git at work.
func (l *Watcher) byGit(pid int) bool {
	l.gits.Lock()
	works := l.gits.work[pid]
	l.gits.Unlock()
	if !works {
		return false
	}
	by, err := os.Readlink("/proc/" + strconv.Itoa(pid) + "/exe")
	return err == nil && filepath.Base(by) == "git"
}

// startedByGit reports whether a program is started by git at work: git stash its git clean, which is a part of that.
func (l *Watcher) startedByGit(e *sandbox.Exec) bool {
	if e.Parents == nil {
		return false
	}
	above := e.Parents()
	return len(above) > 0 && l.byGit(above[0])
}
