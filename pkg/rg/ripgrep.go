package rg

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/workspace"
)

// A RipgrepProgram is a ripgrep that was found on this machine.
type RipgrepProgram struct {
	Path    string   // absolute
	Version string   // such as "15.0.0"
	PCRE2   bool     // it can run patterns that need backtracking
	Env     []string // its environment; nil for an empty one
}

// oldestRipgrep is the first major version that heeds ignore files as the
// package promises: those before forget rules of the directories above.
const oldestRipgrep = 14

// FindRipgrep looks for ripgrep 14 or later: what AGENTKIT_RG names, else rg in
// the absolute directories of PATH, where counts says that it does. Lookup gives an
// environment variable. Each program is run to ask for its version, without a sandbox.
// The error is ErrNoRipgrep.
func FindRipgrep(ctx context.Context, lookup func(key string) string, counts func(path string) bool) (*RipgrepProgram, error) {
	name := "rg"
	if runtime.GOOS == "windows" {
		name = "rg.exe"
	}
	var candidates []string
	if named := lookup("AGENTKIT_RG"); named != "" {
		candidates = append(candidates, named)
	}
	for _, dir := range filepath.SplitList(lookup("PATH")) {
		if path := filepath.Join(dir, name); counts(path) {
			candidates = append(candidates, path)
		}
	}
	for _, path := range candidates {
		if !filepath.IsAbs(path) {
			continue
		}
		st, err := os.Stat(path)
		if err != nil || !st.Mode().IsRegular() || runtime.GOOS != "windows" && st.Mode()&0o111 == 0 {
			continue
		}
		if p := askVersion(ctx, path); p != nil && p.major() >= oldestRipgrep {
			return p, nil
		}
	}
	return nil, ErrNoRipgrep
}

func askVersion(ctx context.Context, path string) *RipgrepProgram {
	p := &RipgrepProgram{Path: path}
	out, err := p.command(ctx, "", "--version").Output()
	first, _, _ := strings.Cut(string(out), "\n")
	version, ok := strings.CutPrefix(first, "ripgrep ")
	if err != nil || !ok {
		return nil
	}
	p.Version, _, _ = strings.Cut(version, " ")
	p.PCRE2 = p.command(ctx, "", "--pcre2-version").Run() == nil
	return p
}

// major is the first number of the version; 0 where there is none.
func (p *RipgrepProgram) major() int {
	first, _, _ := strings.Cut(p.Version, ".")
	n, err := strconv.Atoi(first)
	if err != nil {
		return 0
	}
	return n
}

func (p *RipgrepProgram) command(ctx context.Context, dir string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, p.Path, args...)
	cmd.Dir = dir
	cmd.Env = p.Env
	if cmd.Env == nil {
		cmd.Env = []string{}
	}
	return cmd
}

// ripgrepArgs says the query in ripgrep's words.
func ripgrepArgs(q *Query, pcre bool, roots []rootPath) []string {
	args := []string{"--no-config", "--json", "--no-ignore-global"}
	for _, f := range [...]struct {
		on   bool
		flag string
	}{
		{q.Literal, "--fixed-strings"},
		{q.IgnoreCase, "--ignore-case"},
		{q.SmartCase && !q.IgnoreCase, "--smart-case"},
		{q.Word && !q.Line, "--word-regexp"},
		{q.Line, "--line-regexp"},
		{q.Invert, "--invert-match"},
		{q.Multiline, "--multiline"},
		{q.Multiline && q.DotAll, "--multiline-dotall"},
		{q.CRLF, "--crlf"},
		{pcre, "--pcre2"},
		{q.Hidden, "--hidden"},
		{q.NoIgnore, "--no-ignore"},
		{q.Hidden && !q.NoIgnore, "--glob=!.git"},
		{q.Follow, "--follow"},
		{q.OneFileSystem, "--one-file-system"},
		{q.Binary, "--text"},
		{q.Mode == Files, "--max-count=1"},
	} {
		if f.on {
			args = append(args, f.flag)
		}
	}
	if q.GlobalIgnore != "" && !q.NoIgnore {
		args = append(args, "--ignore-file="+q.GlobalIgnore)
	}
	if q.MaxFileSize > 0 {
		args = append(args, "--max-filesize="+strconv.FormatInt(q.MaxFileSize, 10))
	}
	if q.MaxCount > 0 && q.Mode != Files {
		args = append(args, "--max-count="+strconv.Itoa(q.MaxCount))
	}
	if q.Mode == Content {
		args = append(args, "--before-context="+strconv.Itoa(q.Before), "--after-context="+strconv.Itoa(q.After))
	}
	for _, g := range q.Globs {
		args = append(args, "--glob="+quoteHash(g))
	}
	for _, g := range q.Exclude {
		args = append(args, "--glob=!"+g)
	}
	args = append(args, "--regexp="+q.Pattern, "--")
	for _, r := range roots {
		switch {
		case filepath.IsAbs(filepath.FromSlash(r.show)):
			args = append(args, r.abs)
		default:
			args = append(args, "./"+r.show)
		}
	}
	return args
}

// searchRipgrep runs ripgrep and reads what it prints.
func searchRipgrep(ctx context.Context, q *Query, p *plan, roots []rootPath, c *collector) (*runStatus, error) {
	status := &runStatus{skips: &skipList{}}
	if err := checkRoots(roots, q.Resolved); err != nil {
		return nil, err
	}
	o := q.walkOptions()
	filter, err := newPathFilter(o)
	if err != nil {
		return nil, err
	}
	if q.Allow != nil || q.AllowDir != nil { // name what is refused, whether or not it would match
		listed, err := Walk(ctx, q.Paths, *o, func(Entry) error { return nil })
		if err != nil {
			return nil, err
		}
		for _, s := range listed.Skipped {
			if s.Reason == ReasonPolicy {
				status.skips.add(s.Path, s.Reason)
			}
		}
	}
	asked := *q
	asked.Hidden = q.Hidden || len(filter.spelled) > 0 // the adapter leaves out what is not spelled
	cmd := q.Ripgrep.command(ctx, q.Root, ripgrepArgs(&asked, p == nil, roots)...)
	stderr := &tailBuffer{}
	cmd.Stderr = stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("starting ripgrep: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting ripgrep: %w", err)
	}
	a := &adapter{q: q, c: c, filter: filter, status: status, roots: roots}
	readErr := a.readAll(out)
	if readErr != nil {
		_ = cmd.Process.Kill()
	}
	waitErr := cmd.Wait()
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		status.partial = PartialTimeout
	case ctx.Err() != nil:
		status.partial = PartialCanceled
	case c.visited != nil:
	case readErr != nil:
		return nil, fmt.Errorf("reading from ripgrep: %w", readErr)
	default:
		err = a.errors(waitErr, stderr.text)
	}
	return status, err
}

// checkRoots makes sure that resolved roots lead through no links now. Ripgrep
// is given names, so that it is not proof against one that changes later.
func checkRoots(roots []rootPath, resolved bool) error {
	if !resolved {
		return nil
	}
	for _, r := range roots {
		var err error
		if r.isDir {
			var d dirHandle
			if d, err = openRootDir(r.abs, true); err == nil {
				d.close()
			}
		} else {
			var f fileHandle
			if f, err = openRootFile(r.abs, true); err == nil {
				f.close()
			}
		}
		if errors.Is(err, workspace.ErrMoved) {
			return fmt.Errorf("searching %q: %w", r.abs, plainError(err))
		}
	}
	return nil
}

// A tailBuffer keeps the first part of what is written to it.
type tailBuffer struct{ text []byte }

func (b *tailBuffer) Write(p []byte) (int, error) {
	const most = 256 << 10
	b.text = append(b.text, p[:min(len(p), most-len(b.text))]...)
	return len(p), nil
}
