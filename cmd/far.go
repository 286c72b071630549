package cmd

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/machine"
	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/remote"
	"github.com/agentkit-go/agentkit/pkg/sandbox"
	"github.com/agentkit-go/agentkit/pkg/tool"
)

// reach opens the connection to the place of --on.
func (a *app) reach(ctx context.Context) (*remote.Conn, error) {
	a.listen() // what leads there is a program, and can take long
	target, err := remote.Parse(a.On)
	if err != nil {
		return nil, a.blame("on", err)
	}
	root := target.Root()
	if _, elsewhere := a.origins["root"]; a.Root != "" && !(elsewhere && a.origins["root"].value == a.Root) { // the flag
		if root != "" {
			return nil, tool.Errorf(tool.BadInput, "--root beside a target that names a root").WithHint("leave one of them out")
		}
		root = a.Root
	}
	along, err := a.carry(root)
	if err != nil {
		return nil, err
	}
	return remote.Dial(ctx, remote.Options{Target: target, Self: a.found.self(), Version: released(build()), Welcome: along, Share: a.share()})
}

// share is the directory for connections that further calls use, too: where a command that is
// confined cannot come to it, which takes a sandbox with namespaces.
func (a *app) share() string {
	state, err := a.stateDir()
	if err != nil || machine.This(state, a.found.self(), a.found.where()).Level < sandbox.L3 {
		return ""
	}
	return filepath.Join(state, "ssh")
}

// released is a version where it is that of a release, which says what a program does.
func released(version string) string {
	if !strings.HasPrefix(version, "v") || strings.Contains(version, "+") || strings.Count(version, "-") > 1 {
		return ""
	}
	return version
}

// onlyHere refuses --on for commands that are about this machine.
func (a *app) onlyHere(name string) error {
	if a.On == "" {
		return nil
	}
	return a.blame("on", tool.Errorf(tool.Unsupported, "%s is about this machine, and --on %s names another place", name, a.On).
		WithHint("leave --on out, or run agentkit %s there, as with agentkit --on %s bash", name, a.On))
}

// carry is what goes along to a root.
func (a *app) carry(root string) (*carried, error) {
	s := policy.Sources{Machine: machineDir(a.getenv), User: a.configDir(), Files: absolute(a.Policy)}
	files, err := s.Carried()
	if err != nil {
		return nil, tool.Errorf(tool.BadInput, "the policy cannot be used: %w", err).WithHint("correct it; until then every call is refused")
	}
	return &carried{
		Root: root, Allow: a.Allow, Profile: a.Profile, Session: a.Session, Dialect: a.Dialect, Sandbox: a.Sandbox, Fork: a.Fork, DryRun: a.DryRun,
		MaxLines: a.MaxLines, MaxBytes: a.MaxBytes, MaxTokens: a.MaxTokens, Policy: files,
	}, nil
}

// maxCarried bounds what may go along, in bytes.
const maxCarried = 16 << 20

// receive reads what goes along, and has it take the place of this machine's settings but
// for where state is kept.
func (a *app) receive() error {
	in := bufio.NewReader(a.stdin)
	var text []byte
	for len(text) <= maxCarried && !bytes.HasSuffix(text, []byte("\n")) {
		part, err := in.ReadSlice('\n')
		text = append(text, part...)
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			break
		}
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	c := new(carried)
	if err := dec.Decode(c); err != nil {
		return tool.Errorf(tool.BadInput, "no settings came first: %w", err).WithHint("serve --carried is what agentkit --on starts at the other place")
	}
	root := c.Root
	if rest, ok := strings.CutPrefix(root, "~"); ok {
		root = filepath.Join(a.home(), rest)
	}
	a.settings = settings{
		State: a.State, RG: a.RG, Root: root, Allow: c.Allow, Profile: c.Profile, Session: c.Session, Dialect: c.Dialect, Sandbox: c.Sandbox, Fork: c.Fork, DryRun: c.DryRun,
		MaxLines: c.MaxLines, MaxBytes: c.MaxBytes, MaxTokens: c.MaxTokens,
	}
	a.stdin, a.carried, a.origins = in, c, nil
	return nil
}
