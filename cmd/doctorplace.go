package cmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/audit"
	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/safefile"
	"github.com/agentkit-go/agentkit/pkg/session"
	"github.com/agentkit-go/agentkit/pkg/tool"
	"github.com/agentkit-go/agentkit/pkg/tools/web"
)

func (a *app) rootReport() finding {
	env, err := a.place()
	if err != nil {
		return failure(err)
	}
	defer env.Workspace.Close()
	return fine("%s", env.Workspace.Root())
}

// stateReport tries to write where state is kept, and takes it away again.
func (a *app) stateReport() finding {
	dir, err := a.stateDir()
	if err != nil {
		return failure(err)
	}
	const hint = "check owner and mode, or on a read-only file system choose a directory on another one with --state, such as a volume or a tmpfs; calls are refused while state cannot be kept"
	d, err := safefile.OpenOwned(dir) // as a call does
	switch {
	case errors.Is(err, fs.ErrNotExist):
		at := dir
		for parent := filepath.Dir(at); at != parent; at, parent = parent, filepath.Dir(parent) {
			if _, err := os.Stat(at); err == nil {
				break
			}
		}
		probe, err := os.MkdirTemp(at, ".agentkit-doctor-")
		if err != nil {
			return finding{Status: "fail", Detail: fmt.Sprintf("%s cannot be made: %v", dir, err), Hint: hint}
		}
		if err := os.Remove(probe); err != nil {
			return failure(err)
		}
		return fine("%s, made with the first call", dir)
	case err != nil:
		return finding{Status: "fail", Detail: err.Error(), Hint: hint}
	}
	defer d.Close() //nolint:errcheck // it was read
	probe := session.NewID("doctor")
	err = d.WriteFile(probe, []byte("x"), false)
	if err == nil {
		err = d.Remove(probe)
	}
	if err != nil {
		return finding{Status: "fail", Detail: err.Error(), Hint: hint}
	}
	return fine("%s", dir)
}

// policyReport loads the policy as a call does.
func (a *app) policyReport() finding {
	env, err := a.place()
	if err != nil {
		return warning("see root", "not looked at: there is no root")
	}
	defer env.Workspace.Close()
	p, err := loadGranted(env, a.sources(env))
	if err != nil {
		return failure(err)
	}
	type file struct {
		Path    string `json:"path"`
		Layer   string `json:"layer"`
		Trusted bool   `json:"trusted"`
		SHA256  string `json:"sha256"`
	}
	files := []file{}
	var names, untrusted []string
	for _, f := range p.Files() {
		project := f.Layer == policy.Project
		files = append(files, file{f.Path, f.Layer.String(), f.Trusted || !project, f.SHA256})
		names = append(names, fmt.Sprintf("%s (%s)", f.Path, f.Layer))
		if project && !f.Trusted {
			untrusted = append(untrusted, f.Path)
		}
	}
	switch remarks := len(policy.Lint(p)); {
	case len(untrusted) > 0:
		return warning("look at it, then run agentkit policy trust; until then it only tightens", "not trusted: %s", strings.Join(untrusted, ", ")).with(files)
	case len(names) == 0:
		return fine("no file: the profile decides; agentkit policy init writes one").with(files)
	case remarks > 0:
		return warning("agentkit policy lint says which", "valid: %s; %s", strings.Join(names, ", "), tool.Count(int64(remarks), "remark")).with(files)
	}
	return fine("valid: %s", strings.Join(names, ", ")).with(files)
}

// configurationReport says which settings come from where, but not what they are.
func (a *app) configurationReport() finding {
	dir := a.configDir()
	if dir == "" {
		return warning("set HOME or XDG_CONFIG_HOME", "there is no directory for it")
	}
	if a.misset != nil {
		return failure(a.misset)
	}
	file, err := configFile(dir)
	if err != nil {
		return failure(err)
	}
	type setting struct {
		Name string `json:"name"`
		From string `json:"from"`
	}
	more := struct {
		Dir      string    `json:"dir"`
		File     string    `json:"file,omitempty"`
		Settings []setting `json:"settings"`
	}{dir, file, []setting{}}
	var words []string
	for _, key := range slices.Sorted(maps.Keys(a.origins)) {
		from, _, _ := strings.Cut(a.origins[key].name, ": ") // of a file the key follows
		more.Settings = append(more.Settings, setting{key, from})
		words = append(words, key+" from "+from)
	}
	detail := "no file; " + filepath.Join(dir, "config.yaml") + " would be read"
	if file != "" {
		detail = file
	}
	if len(words) > 0 {
		detail += "; set: " + strings.Join(words, ", ")
	}
	if info, err := os.Stat(filepath.Join(dir, web.KeysFile)); err == nil && info.Mode().Perm()&0o077 != 0 && runtime.GOOS != "windows" {
		return warning("chmod 600 "+filepath.Join(dir, web.KeysFile), "%s; %s can be read by others", detail, web.KeysFile).with(more)
	}
	return fine("%s", detail).with(more)
}

// webReport says who is asked when the web is searched. No host is asked here.
func (a *app) webReport() finding {
	env, err := a.place()
	if err != nil {
		return warning("see root", "not looked at: there is no root")
	}
	defer env.Workspace.Close()
	env.Sources = a.sources(env)
	names, proxies, err := web.Prospect(env)
	if err != nil {
		return warning("correct the variable", "searches fail: %v", err)
	}
	detail := "websearch asks, in this order: " + strings.Join(names, ", ")
	if len(proxies) > 0 {
		detail += "; by the proxy of " + strings.Join(proxies, ", ")
	}
	more := map[string][]string{"providers": names, "proxies": append([]string{}, proxies...)}
	return fine("%s", detail).with(more)
}

// recordReport checks the record of the session.
func (a *app) recordReport(ctx context.Context) finding {
	env, err := a.place()
	if err != nil {
		return warning("see root", "not looked at: there is no root")
	}
	defer env.Workspace.Close()
	path := filepath.Join(env.Session.Dir(), audit.FileName)
	report, err := audit.Verify(ctx, path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fine("nothing is on record yet of session %s", env.Session.ID())
	case err != nil:
		return finding{Status: "fail", Detail: err.Error(), Hint: "agentkit log --verify says more; keep a copy, and trust nothing from there on"}
	}
	return fine("%s of session %s, as they were written", tool.Count(int64(report.Lines), "record"), env.Session.ID())
}
