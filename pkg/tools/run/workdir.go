package run

import (
	"bytes"
	"context"
	"io"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/session"
	"github.com/agentkit-go/agentkit/pkg/tool"
)

// workdirFile is where a session keeps the directory in which the last command ended
// that was to leave it to the next one.
const workdirFile = "workdir"

// lastWorkdir is the directory in which the last command ended that left it to the
// next one; "" for none that is still in the workspace.
func lastWorkdir(env *tool.Env) string {
	raw, err := env.Session.ReadFile(workdirFile)
	if err != nil {
		return ""
	}
	dir, err := env.Workspace.Resolve(string(raw))
	if err != nil || !dir.Inside || dir.Type != policy.Dir {
		return ""
	}
	return dir.Real
}

// A farewell is what a shell prints when it ends, to say where it is then. It is taken
// out of the output.
type farewell struct {
	mark string
	to   io.Writer

	held []byte // the end of the output, which may be the beginning of the farewell
	dir  []byte // what came behind the mark
	said bool   // the mark has come
	over bool   // and the end of the directory
}

// farewellEnd ends the mark, and the directory.
const farewellEnd = "\x1e"

func newFarewell() *farewell {
	return &farewell{mark: "\x1e" + session.NewID("cwd") + farewellEnd}
}

// asked is command with the request to say farewell on its first line, so that the
// numbers of its lines stay. A shell that has sent its output to a file is silent.
func (f *farewell) asked(command string) string {
	id := strings.Trim(f.mark, farewellEnd)
	return `trap '[ -f /dev/fd/1 ] || printf "\036` + id + `\036%s\036" "$PWD"' EXIT; ` + command
}

// Write implements io.Writer.
func (f *farewell) Write(p []byte) (int, error) {
	if f.over {
		return f.to.Write(p)
	}
	if !f.said {
		f.held = append(f.held, p...)
		at := bytes.Index(f.held, []byte(f.mark))
		if at < 0 {
			n := len(f.held) - begun(f.held, f.mark)
			_, err := f.to.Write(f.held[:n])
			f.held = append([]byte(nil), f.held[n:]...)
			return len(p), err
		}
		f.said, f.dir = true, append(f.dir, f.held[at+len(f.mark):]...)
		if _, err := f.to.Write(f.held[:at]); err != nil {
			return len(p), err
		}
	} else {
		f.dir = append(f.dir, p...)
	}
	dir, rest, ended := bytes.Cut(f.dir, []byte(farewellEnd))
	if f.over = ended; !ended {
		return len(p), nil
	}
	f.dir, f.held = append([]byte(nil), dir...), nil
	_, err := f.to.Write(rest)
	return len(p), err
}

// close passes on what was held back for nothing.
func (f *farewell) close() {
	if !f.said {
		_, _ = f.to.Write(f.held)
	}
}

// begun is how many bytes at the end of text are the beginning of mark.
func begun(text []byte, mark string) int {
	for n := min(len(text), len(mark)-1); n > 0; n-- {
		if bytes.HasSuffix(text, []byte(mark[:n])) {
			return n
		}
	}
	return 0
}

// keep has the session remember the directory for the next command. Outside of the
// workspace it is forgotten: then the next one begins at the root.
func (f *farewell) keep(ctx context.Context, env *tool.Env) {
	dir := ""
	if p, err := env.Workspace.Resolve(string(f.dir)); err == nil && p.Inside {
		dir = p.Real
	}
	if f.over {
		_ = env.Session.WriteFile(context.WithoutCancel(ctx), workdirFile, []byte(dir))
	}
}
