package cmd

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/agentkit-go/agentkit/pkg/dialect"
	"github.com/agentkit-go/agentkit/pkg/killtree"
	"github.com/agentkit-go/agentkit/pkg/machine"
	"github.com/agentkit-go/agentkit/pkg/param"
	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/remote"
	"github.com/agentkit-go/agentkit/pkg/sandbox"
	"github.com/agentkit-go/agentkit/pkg/session"
	"github.com/agentkit-go/agentkit/pkg/tool"
)

// A far is another place, which makes calls and speaks our dialect.
type far struct {
	*remote.Link
	dialect *dialect.Dialect // nil for our own names
}

// call is a tool.Caller.
func (f *far) call(ctx context.Context, p tool.Peer, name string, args json.RawMessage) *tool.Result {
	if !json.Valid(args) {
		return tool.Fail(name, tool.Errorf(tool.BadInput, "want a JSON object with the parameters").WithHint("send {} for none"))
	}
	d, ours := spokenIn(name, f.dialect)
	if d != nil {
		if call, err := d.Decode(ours, args); err == nil {
			ours = call.To
		}
	}
	if !slices.Contains([]string{"question", "batch", "script"}, ours) {
		p.Consult = nil // it asks no model's questions
	}
	return f.Call(ctx, p, name, args)
}

// spokenIn is the dialect of a call at another place: the one that stands before the name of its
// tool, as in openai/shell, else the usual one. Nothing before the slash is our own names.
func spokenIn(name string, usual *dialect.Dialect) (*dialect.Dialect, string) {
	other, own, ok := strings.Cut(name, "/")
	if !ok {
		return usual, name
	}
	d, err := dialect.Find(other)
	if err != nil && other != "" {
		return usual, name
	}
	return d, own
}

// many reports whether a call is to be made at several places.
func (a *app) many() bool { return len(a.more) > 0 || strings.HasPrefix(a.On, "@") }

// reach opens the connection to the place of --on, whose calls come in a dialect.
func (a *app) reach(ctx context.Context, speaks *dialect.Dialect) (*far, error) {
	a.listen() // what leads there is a program, and can take long
	if a.many() {
		return nil, tool.Errorf(tool.BadInput, "this is for one target, and --on names several").WithHint("call a tool, or give one target")
	}
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
	o := a.leading(target, along)
	if state := a.shared(); state != "" && !a.alone {
		o.Keep, o.Around = filepath.Join(state, "kept"), a.around()
	}
	link, err := remote.Open(ctx, o)
	if err != nil {
		return nil, err
	}
	return &far{link, speaks}, nil
}

// leading is what leads to a target, where welcome is what is told there first.
func (a *app) leading(target *remote.Target, welcome any) *remote.Options {
	o := &remote.Options{Target: target, Self: a.found.self(), Version: released(build()), Programs: a.Programs, Welcome: welcome, Find: a.program, Path: a.ownPath()}
	if state := a.shared(); state != "" {
		o.Share, o.Brief = filepath.Join(state, "ssh"), a.alone
	}
	return o
}

// shared is the state directory, where connections may be kept in it that further calls use,
// too: a command that is confined must not come to them, which takes a sandbox with namespaces.
func (a *app) shared() string {
	state, err := a.stateDir()
	if err != nil || machine.This(state, a.found.self(), a.found.where()).Level < sandbox.L3 {
		return ""
	}
	return state
}

// around is the surroundings of the process that may decide where a target leads, such as
// DOCKER_HOST: its directory and its variables, less those that differ with each call and those
// that are settings.
func (a *app) around() []string {
	list := slices.DeleteFunc(slices.Clone(a.environ()), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return slices.Contains([]string{"_", "SHLVL", "PWD", "OLDPWD", "COLUMNS", "LINES"}, name) || strings.HasPrefix(name, "AGENTKIT_")
	})
	slices.Sort(list)
	return append(list, absolute([]string{"."})...)
}

// keep keeps a connection for others at a socket, until nobody needs it.
func (a *app) keep(ctx context.Context, socket string) error {
	a.listen()
	killtree.CloseInherited()
	target, err := remote.Parse(a.On)
	if err != nil {
		return err
	}
	welcome, err := a.readStdin()
	if err != nil {
		return err
	}
	return remote.Keep(ctx, a.leading(target, json.RawMessage(bytes.TrimSpace(welcome))), socket)
}

// unconfigured reports whether it does not matter what the user has configured: the program
// says its version or what is wrong with the configuration, or a caller at another place
// sends the settings.
func (a *app) unconfigured(root *cobra.Command) bool {
	if c, _, err := root.Find(a.args); err == nil && c.Name() == doctorName && c.Parent() == root {
		return true
	}
	return slices.Equal(a.args, []string{"version"}) || slices.Equal(a.args, []string{"serve", "--stdio", "--carried"})
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
		WithHint("leave --on out, or log in there and run agentkit %s; where none is installed, the program that was carried there is in ~/.local/state/agentkit/far", name))
}

// carry is what goes along to a root.
func (a *app) carry(root string) (*carried, error) {
	s := policy.Sources{Machine: machineDir(a.getenv), User: a.configDir(), Files: absolute(a.Policy), Allow: a.Allow, Profile: a.Profile, Sandbox: a.Sandbox, Tools: Tools.Names()}
	files, err := s.Carried()
	if err != nil {
		return nil, a.blamePolicy(unusable(err))
	}
	if err := session.CheckID(a.Session); err != nil {
		return nil, a.blame("session", err)
	}
	return &carried{
		Root: root, Allow: a.Allow, Profile: a.Profile, Session: a.Session, Dialect: a.Dialect, Sandbox: a.Sandbox, Fork: a.Fork, DryRun: a.DryRun,
		MaxLines: a.MaxLines, MaxBytes: a.MaxBytes, MaxTokens: a.MaxTokens, Only: a.only, Policy: files,
	}, nil
}

// maxCarried bounds what may go along, in bytes.
const maxCarried = 16 << 20

// receive reads what goes along, and has it take the place of this machine's settings but
// for where variables say that state is kept: beside it lies the program that was carried,
// where no command may write.
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
		State: a.getenv("AGENTKIT_STATE"), RG: a.RG, Root: root, Allow: c.Allow, Profile: c.Profile, Session: c.Session, Dialect: c.Dialect, Sandbox: c.Sandbox, Fork: c.Fork, DryRun: c.DryRun,
		MaxLines: c.MaxLines, MaxBytes: c.MaxBytes, MaxTokens: c.MaxTokens,
	}
	a.stdin, a.carried, a.origins = in, c, nil
	return nil
}

// sent are the parameters of a call for another place, to which they go as JSON: bytes that are
// not UTF-8 go in base64, where the tool takes that.
func sent(s *param.Set) (json.RawMessage, error) {
	raw := s.Given()
	for _, p := range s.Params {
		text, ok := p.Value().(string)
		if !ok || !p.Given() || utf8.ValidString(text) {
			continue
		}
		coded := p.Name + "_base64"
		if s.Lookup(coded) == nil {
			return nil, tool.Errorf(tool.BadInput, "%s is not UTF-8, and goes to no other place", p.Name).
				WithHint("bring the bytes there as a file, by scp or what else leads there, or in base64 with bash: base64 -d >FILE")
		}
		var all map[string]json.RawMessage
		if err := json.Unmarshal(raw, &all); err != nil {
			return nil, err
		}
		delete(all, p.Name)
		all[coded], _ = json.Marshal([]byte(text))
		raw, _ = json.Marshal(all)
	}
	return raw, nil
}
