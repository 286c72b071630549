// Package remote makes calls in another place: on another machine, in a container, in a
// pod. The system's own ssh, docker, podman and kubectl lead to a shell there, which
// starts agentkit serve, and calls go to that as to any server of package serve.
//
// The rules:
//
//   - A target becomes one list of words. No shell on this side reads it.
//   - What comes from the far end is data: it is bounded, decoded into known types, and
//     shown with the name of the target that this side has for it.
//   - Whatever the far end does or leaves undone, a call ends.
package remote

import (
	"net"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/agentkit-go/agentkit/pkg/tool"
)

// A Target is a place where calls are made.
type Target struct {
	text string
	hops []hop
	root string
}

// A hop is one step on the way to a target: it wraps the words of a program, so that
// this runs one place further.
type hop func(inner []string) []string

// String is the target as it was written.
func (t *Target) String() string { return t.text }

// Root is the workspace that the target names; "" where it names none.
func (t *Target) Root() string { return t.root }

// Argv is the program with its words that gives a pipe to a shell there.
func (t *Target) Argv() []string {
	argv := []string{"sh"}
	for _, h := range slices.Backward(t.hops) {
		argv = h(argv)
	}
	return argv
}

// forms says what a target may be.
const forms = "write ssh://[user@]host[:port]/root, docker://CONTAINER/root, podman://CONTAINER/root, kubectl://NAMESPACE/POD/root or exec:COMMAND; several with > between them lead one through the other"

func wrong(text, format string, args ...any) *tool.Error {
	e := tool.Errorf(tool.BadInput, "the target %q: "+format, append([]any{text}, args...)...)
	return e.WithHint("%s", forms)
}

// Parse reads a target.
func Parse(text string) (*Target, error) {
	if strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return nil, wrong(text, "it has characters that nobody can see")
	}
	t := &Target{text: strings.TrimSpace(text)}
	rest, more := t.text, true
	for more {
		var one string
		if rest = strings.TrimSpace(rest); strings.HasPrefix(rest, "exec:") {
			one, more = rest, false // the command may hold any character
		} else {
			one, rest, more = strings.Cut(rest, ">")
		}
		h, root, err := parseHop(text, strings.TrimSpace(one))
		if err != nil {
			return nil, err
		}
		if more && root != "" {
			return nil, wrong(text, "%s is on the way, and only the last place has a root", one)
		}
		t.hops, t.root = append(t.hops, h), root
	}
	return t, nil
}

func parseHop(text, one string) (h hop, root string, err error) {
	if command, ok := strings.CutPrefix(one, "exec:"); ok {
		if strings.TrimSpace(command) == "" {
			return nil, "", wrong(text, "exec: names no command")
		}
		return func([]string) []string { return []string{"sh", "-c", command} }, "", nil
	}
	scheme, rest, ok := strings.Cut(one, "://")
	if !ok {
		return nil, "", wrong(text, "%q has no scheme", one)
	}
	switch scheme {
	case "ssh":
		return parseSSH(text, rest)
	case "docker", "podman":
		name, below, _ := strings.Cut(rest, "/")
		list, err := names(text, name)
		if err != nil {
			return nil, "", err
		}
		root, err = rootOf(text, below)
		return func(inner []string) []string { return append([]string{scheme, "exec", "-i", list[0]}, inner...) }, root, err
	case "kubectl":
		return parsePod(text, rest)
	}
	return nil, "", wrong(text, "there is no scheme %q", scheme)
}

// host is what a host may be called, and a user. A dash in front would make an option.
func host(s string) bool { return regexp.MustCompile(`^[\pL\pN_.][\pL\pN_.-]*$`).MatchString(s) }

func parseSSH(text, rest string) (h hop, root string, err error) {
	place, below, _ := strings.Cut(rest, "/")
	user, at, named := strings.Cut(place, "@")
	if !named {
		user, at = "", place
	}
	port := ""
	if bare, ok := strings.CutPrefix(at, "["); ok {
		end := strings.IndexByte(bare, ']')
		if end < 0 || net.ParseIP(bare[:end]) == nil {
			return nil, "", wrong(text, "%q is no address", at)
		}
		at, port = bare[:end], bare[end+1:]
		if port != "" && port[0] != ':' {
			return nil, "", wrong(text, "%q is no port", port)
		}
		port = strings.TrimPrefix(port, ":")
	} else if at, port, _ = strings.Cut(at, ":"); !host(at) {
		return nil, "", wrong(text, "%q is no host", at)
	}
	if named && !host(user) {
		return nil, "", wrong(text, "%q is no user; keys and passwords are ssh's own matter", user)
	}
	if _, err := strconv.ParseUint(port, 10, 16); port != "" && err != nil {
		return nil, "", wrong(text, "%q is no port", port)
	}
	// As scp and sftp do: nothing of this side but the words goes along, whatever
	// ssh's configuration says of usual sessions.
	argv := []string{"ssh", "-T", "-x", "-a", "-o", "ClearAllForwardings=yes", "-o", "PermitLocalCommand=no", "-o", "RemoteCommand=none"}
	if port != "" {
		argv = append(argv, "-p", port)
	}
	if named {
		argv = append(argv, "-l", user)
	}
	argv = append(argv, "--", at)
	root, err = rootOf(text, below)
	return func(inner []string) []string {
		return append(slices.Clip(argv), tool.QuoteWords(inner)) // ssh hands it to the user's shell
	}, root, err
}

// parsePod reads [CONTEXT/]NAMESPACE/POD[/CONTAINER]/root. With two slashes in front of
// the root there are two, three or four names before it; else the first two are.
func parsePod(text, rest string) (h hop, root string, err error) {
	before, below, marked := strings.Cut(strings.TrimPrefix(rest, "/"), "//")
	if strings.HasPrefix(rest, "/") {
		before = "/" + before
	}
	parts := strings.Split(before, "/")
	if !marked {
		n := min(2, len(parts))
		parts, below = parts[:n], strings.Join(parts[n:], "/")
	}
	context, container := "", ""
	switch {
	case len(parts) < 2 || len(parts) > 4:
		return nil, "", wrong(text, "kubectl takes NAMESPACE/POD, and with // before the root CONTEXT/NAMESPACE/POD and CONTEXT/NAMESPACE/POD/CONTAINER")
	case len(parts) > 2:
		context, parts = parts[0], parts[1:]
	}
	if len(parts) == 3 {
		container = parts[2]
	}
	list, err := names(text, parts...)
	if err != nil {
		return nil, "", err
	}
	argv := []string{"kubectl"}
	if context != "" {
		own, err := url.PathUnescape(context)
		if err != nil {
			return nil, "", wrong(text, "%v", err)
		}
		argv = append(argv, "--context="+own)
	}
	argv = append(argv, "--namespace="+list[0], "exec", "-i", list[1])
	if container != "" {
		argv = append(argv, "--container="+list[2])
	}
	argv = append(argv, "--")
	root, err = rootOf(text, below)
	return func(inner []string) []string { return append(slices.Clip(argv), inner...) }, root, err
}

// names checks the names of containers and pods.
func names(text string, list ...string) ([]string, error) {
	for _, name := range list {
		if !regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9_.-]*$`).MatchString(name) {
			return nil, wrong(text, "%q is no name", name)
		}
	}
	return list, nil
}

// rootOf is the path behind the slash that ends a place; "~" is the home there.
func rootOf(text, below string) (string, error) {
	below, err := url.PathUnescape(below)
	switch {
	case err != nil:
		return "", wrong(text, "%v", err)
	case strings.ContainsFunc(below, func(r rune) bool { return !unicode.IsPrint(r) }):
		return "", wrong(text, "its root has characters that nobody can see")
	case below == "":
		return "", nil
	case below == "~" || strings.HasPrefix(below, "~/"):
		return below, nil
	}
	return path.Clean("/" + below), nil
}
