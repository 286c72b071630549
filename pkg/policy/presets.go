package policy

import (
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/programs"
	"github.com/agentkit-go/agentkit/pkg/safefile"
)

// preset is what a named set of hosts stands for; nil when it is none.
func (w *world) preset(name string) *urlGlob {
	var hosts []string
	switch name {
	case "packages":
		hosts = programs.PackageHosts()
	case "remotes":
		hosts = remoteHosts(w.root)
	default:
		return nil
	}
	u := &urlGlob{host: name, preset: []*urlGlob{}}
	for _, h := range hosts {
		if one, err := parseURLGlob(h, true); err == nil {
			u.preset = append(u.preset, one)
		}
	}
	return u
}

// HasRemotes reports whether the repository that a directory lies in has a remote on
// another machine.
func HasRemotes(dir string) bool { return len(remoteHosts(dir)) > 0 }

// maxGitFile bounds what is read of a repository's settings, in bytes.
const maxGitFile = 4 << 20

// remoteHosts lists the hosts of the remotes of the repository that dir lies in,
// with a port where it is not one of the usual ones.
func remoteHosts(dir string) (hosts []string) {
	config, err := safefile.ReadRegular(gitConfig(filepath.FromSlash(dir)), maxGitFile)
	if err != nil {
		return nil
	}
	for _, s := range programs.RemoteURLs(config) {
		if !strings.Contains(s, "://") {
			host, _, ok := strings.Cut(s, ":")
			if !ok || strings.Contains(host, "/") {
				continue // a directory
			}
			s = "ssh://" + host
		}
		if u, err := url.Parse(s); err == nil && u.Hostname() != "" && u.Scheme != "file" {
			hosts = append(hosts, u.Host)
		}
	}
	return hosts
}

// gitConfig is the file with the settings of the repository that dir lies in; ""
// when there is none.
func gitConfig(dir string) string {
	for {
		git := filepath.Join(dir, ".git")
		if i, err := os.Stat(git); err == nil {
			if i.IsDir() {
				return filepath.Join(git, "config")
			}
			return linkedConfig(git)
		}
		up := filepath.Dir(dir)
		if up == dir {
			return ""
		}
		dir = up
	}
}

// linkedConfig follows the .git file of a worktree or submodule.
func linkedConfig(file string) string {
	text, err := safefile.ReadRegular(file, maxGitFile)
	at, ok := safefile.GitDir(text)
	if err != nil || !ok {
		return ""
	}
	if !filepath.IsAbs(at) {
		at = filepath.Join(filepath.Dir(file), at)
	}
	if common, err := safefile.ReadRegular(filepath.Join(at, "commondir"), maxGitFile); err == nil {
		if c := strings.TrimSpace(string(common)); filepath.IsAbs(c) {
			at = c
		} else {
			at = filepath.Join(at, c)
		}
	}
	return filepath.Join(at, "config")
}
