package policy

import (
	"path"
	"slices"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/safefile"
)

// A guard is a row of the built-in protections: names that no command and no
// file tool touches as if they were ordinary files. Patterns are whole names,
// folded, at any depth; "~/" and "/" anchor them; one * may stand in the
// only name. What lies below a match is guarded too.
type guard struct {
	pattern string
	cell    cell // writeProtected, writeSensitive or readSecret
}

// writeGuards says what must not be changed unasked. The first part decides
// what editors, agents and repositories run by themselves (CVE-2025-59536,
// CVE-2025-53773, CVE-2025-54135 and their kin); the second what build
// services, package managers and shells trust. .git itself is in gitCell.
var writeGuards = [...]guard{
	{".gitmodules", writeProtected},
	{".hg/hgrc", writeProtected},
	{".hg/hgrc-not-shared", writeProtected},
	{".hg/sharedpath", writeProtected},
	{".sl/config", writeProtected},
	{".jj/repo/config.toml", writeProtected},
	{".agentkit", writeProtected},
	{".vscode", writeProtected},
	{".idea", writeProtected},
	{".envrc", writeProtected},
	{".mcp.json", writeProtected},
	{".cursor", writeProtected},
	{".claude", writeProtected},
	{".codex", writeProtected},
	{".gemini", writeProtected},
	{".opencode", writeProtected},
	{"opencode.json", writeProtected},
	{"opencode.jsonc", writeProtected},
	{".qwen", writeProtected},
	{".kiro/settings", writeProtected},
	{".kiro/hooks", writeProtected},
	{".amazonq", writeProtected},
	{"crush.json", writeProtected},
	{".crush.json", writeProtected},
	{".windsurf", writeProtected},
	{".roo", writeProtected},
	{".kilocode", writeProtected},
	{".continue", writeProtected},
	{".amp", writeProtected},
	{".factory", writeProtected},
	{".junie", writeProtected},
	{".trae", writeProtected},
	{".theia", writeProtected},
	{".aider.conf.yml", writeProtected},
	{"~/.ssh", writeProtected},
	{"~/.gnupg", writeProtected},
	{"~/.aws", writeProtected},
	{"~/.kube", writeProtected},
	{"~/.docker", writeProtected},
	{"~/.gitconfig", writeProtected},
	{"~/.config/git", writeProtected},
	{"~/.config/agentkit", writeProtected},
	{"~/.config/fish", writeProtected},
	{"~/.config/autostart", writeProtected},
	{"~/.config/systemd", writeProtected},
	{"~/.config/environment.d", writeProtected},
	{"~/.local/share/systemd", writeProtected},
	{"~/library/launchagents", writeProtected},
	{"~/library/launchdaemons", writeProtected},
	{"~/.bashrc", writeProtected},
	{"~/.bash_profile", writeProtected},
	{"~/.bash_login", writeProtected},
	{"~/.bash_logout", writeProtected},
	{"~/.bash_aliases", writeProtected},
	{"~/.bash_completion", writeProtected},
	{"~/.profile", writeProtected},
	{"~/.zshrc", writeProtected},
	{"~/.zshenv", writeProtected},
	{"~/.zprofile", writeProtected},
	{"~/.zlogin", writeProtected},
	{"~/.zlogout", writeProtected},
	{"~/.kshrc", writeProtected},
	{"~/.cshrc", writeProtected},
	{"~/.tcshrc", writeProtected},
	{"~/.login", writeProtected},
	{"~/.inputrc", writeProtected},
	{"~/.pam_environment", writeProtected},
	{"~/.xprofile", writeProtected},
	{"~/.xinitrc", writeProtected},
	{"~/.xsession", writeProtected},
	{"~/.xsessionrc", writeProtected},
	{"~/.hgrc", writeProtected},
	{"~/.gradle/init.gradle", writeProtected},
	{"~/.gradle/init.d", writeProtected},
	{"~/.npmrc", writeProtected},
	{"~/.pypirc", writeProtected},
	{"~/.netrc", writeProtected},
	{"~/.git-credentials", writeProtected},
	{"~/.config/pip", writeProtected},
	{"~/.cargo/config", writeProtected},
	{"~/.cargo/config.toml", writeProtected},
	{"/etc/agentkit", writeProtected},

	{".github/workflows", writeSensitive},
	{".github/actions", writeSensitive},
	{".github/hooks", writeSensitive},
	{".gitea/workflows", writeSensitive},
	{".forgejo/workflows", writeSensitive},
	{".gitlab-ci.yml", writeSensitive},
	{".circleci", writeSensitive},
	{".buildkite", writeSensitive},
	{".woodpecker", writeSensitive},
	{".woodpecker.yml", writeSensitive},
	{".travis.yml", writeSensitive},
	{".drone.yml", writeSensitive},
	{"azure-pipelines.yml", writeSensitive},
	{"bitbucket-pipelines.yml", writeSensitive},
	{"appveyor.yml", writeSensitive},
	{".appveyor.yml", writeSensitive},
	{"cloudbuild.yaml", writeSensitive},
	{"jenkinsfile", writeSensitive},
	{"buildspec.yml", writeSensitive},
	{".cirrus.yml", writeSensitive},
	{".cirrus.star", writeSensitive},
	{".semaphore", writeSensitive},
	{".tekton", writeSensitive},
	{".teamcity", writeSensitive},
	{".build.yml", writeSensitive},
	{".builds", writeSensitive},
	{".devcontainer", writeSensitive},
	{".devcontainer.json", writeSensitive},
	{".zed", writeSensitive},
	{".helix", writeSensitive},
	{".fleet", writeSensitive},
	{"*.code-workspace", writeSensitive},
	{".husky", writeSensitive},
	{".pre-commit-config.yaml", writeSensitive},
	{"prek.toml", writeSensitive},
	{"lefthook*.yml", writeSensitive},
	{".lefthook*.yml", writeSensitive},
	{"lefthook*.yaml", writeSensitive},
	{".lefthook*.yaml", writeSensitive},
	{"lefthook*.toml", writeSensitive},
	{".lefthook*.toml", writeSensitive},
	{"lefthook*.json", writeSensitive},
	{".lefthook*.json", writeSensitive},
	{"lefthook*.jsonc", writeSensitive},
	{".lefthook*.jsonc", writeSensitive},
	{".lefthook", writeSensitive},
	{".lefthook-local", writeSensitive},
	{".gitattributes", writeSensitive},
	{".lfsconfig", writeSensitive},
	{".gitconfig", writeSensitive},
	{".npmrc", writeSensitive},
	{".yarnrc", writeSensitive},
	{".yarnrc.yml", writeSensitive},
	{".pnpmfile.cjs", writeSensitive},
	{".pypirc", writeSensitive},
	{"pip.conf", writeSensitive},
	{".cargo/config", writeSensitive},
	{".cargo/config.toml", writeSensitive},
	{".bundle/config", writeSensitive},
	{".bazelrc", writeSensitive},
	{".mise.toml", writeSensitive},
	{"mise.toml", writeSensitive},
	{".mise.local.toml", writeSensitive},
	{"mise.local.toml", writeSensitive},
	{"mise.*.toml", writeSensitive},
	{".mise.*.toml", writeSensitive},
	{".mise", writeSensitive},
	{"mise/config.toml", writeSensitive},
	{".rtx.toml", writeSensitive},
	{".config/mise", writeSensitive},
	{".config/mise.toml", writeSensitive},
	{".tool-versions", writeSensitive},
	{"sitecustomize.py", writeSensitive},
	{"usercustomize.py", writeSensitive},
	{"*.pth", writeSensitive},
	{".bashrc", writeSensitive},
	{".bash_profile", writeSensitive},
	{".bash_login", writeSensitive},
	{".bash_logout", writeSensitive},
	{".bash_aliases", writeSensitive},
	{".bash_completion", writeSensitive},
	{".profile", writeSensitive},
	{".zshrc", writeSensitive},
	{".zshenv", writeSensitive},
	{".zprofile", writeSensitive},
	{".zlogin", writeSensitive},
	{".zlogout", writeSensitive},
	{".kshrc", writeSensitive},
	{".cshrc", writeSensitive},
	{".tcshrc", writeSensitive},
	{".login", writeSensitive},
	{".inputrc", writeSensitive},
	{".xprofile", writeSensitive},
	{".xinitrc", writeSensitive},
	{".xsession", writeSensitive},
	{".xsessionrc", writeSensitive},
	{".hgrc", writeSensitive},
	{".gdbinit", writeSensitive},
	{".lldbinit", writeSensitive},
	{".vimrc", writeSensitive},
	{".exrc", writeSensitive},
	{".nvimrc", writeSensitive},
	{".nvim.lua", writeSensitive},
	{".gvimrc", writeSensitive},
	{".emacs", writeSensitive},
	{".screenrc", writeSensitive},
	{".tmux.conf", writeSensitive},
	{".curlrc", writeSensitive},
	{".wgetrc", writeSensitive},
	{".netrc", writeSensitive},
	{".psqlrc", writeSensitive},
	{".sqliterc", writeSensitive},
	{".irbrc", writeSensitive},
	{".pryrc", writeSensitive},
	{".rdbgrc", writeSensitive},
	{".byebugrc", writeSensitive},
	{".rprofile", writeSensitive},
	{".renviron", writeSensitive},
	{".octaverc", writeSensitive},
	{".pdbrc", writeSensitive},
	{".perldb", writeSensitive},
	{".ghci", writeSensitive},
	{".iex.exs", writeSensitive},
	{".ocamlinit", writeSensitive},
	{".ssh", writeSensitive},
	{".gnupg", writeSensitive},
	{".docker", writeSensitive},
}

// readGuards says what holds secrets.
var readGuards = [...]guard{
	{".env", readSecret},
	{".env.*", readSecret},
	{"*.env", readSecret},
	{".envrc", readSecret},
	{"id_rsa", readSecret},
	{"id_dsa", readSecret},
	{"id_ecdsa", readSecret},
	{"id_ecdsa_sk", readSecret},
	{"id_ed25519", readSecret},
	{"id_ed25519_sk", readSecret},
	{"*.pem", readSecret},
	{"*.key", readSecret},
	{"*.p12", readSecret},
	{"*.pfx", readSecret},
	{"*.jks", readSecret},
	{"*.keystore", readSecret},
	{"*.kdbx", readSecret},
	{"*.ppk", readSecret},
	{"*_history", readSecret},
	{".zhistory", readSecret},
	{".histfile", readSecret},
	{".lesshst", readSecret},
	{".viminfo", readSecret},
	{".netrc", readSecret},
	{"_netrc", readSecret},
	{".npmrc", readSecret},
	{".pypirc", readSecret},
	{".git-credentials", readSecret},
	{".pgpass", readSecret},
	{".my.cnf", readSecret},
	{".mylogin.cnf", readSecret},
	{".authinfo", readSecret},
	{".authinfo.gpg", readSecret},
	{".smbcredentials", readSecret},
	{".xauthority", readSecret},
	{".erlang.cookie", readSecret},
	{".cvspass", readSecret},
	{".consul-token", readSecret},
	{".htpasswd", readSecret},
	{".dockercfg", readSecret},
	{".vault-token", readSecret},
	{".s3cfg", readSecret},
	{".boto", readSecret},
	{".terraformrc", readSecret},
	{"credentials.json", readSecret},
	{".ssh", readSecret},
	{".aws", readSecret},
	{".azure", readSecret},
	{".gnupg", readSecret},
	{".kube", readSecret},
	{".password-store", readSecret},
	{".mozilla", readSecret},
	{".docker/config.json", readSecret},
	{".config/gh", readSecret},
	{".config/glab-cli", readSecret},
	{".config/hub", readSecret},
	{".config/gcloud", readSecret},
	{".config/rclone", readSecret},
	{".config/op", readSecret},
	{".config/git/credentials", readSecret},
	{".config/composer/auth.json", readSecret},
	{".config/github-copilot", readSecret},
	{".config/google-chrome", readSecret},
	{".config/chromium", readSecret},
	{".config/bravesoftware", readSecret},
	{".composer/auth.json", readSecret},
	{".cargo/credentials", readSecret},
	{".cargo/credentials.toml", readSecret},
	{".gem/credentials", readSecret},
	{".m2/settings.xml", readSecret},
	{".m2/settings-security.xml", readSecret},
	{".gradle/gradle.properties", readSecret},
	{".terraform.d/credentials.tfrc.json", readSecret},
	{".claude/.credentials.json", readSecret},
	{".codex/auth.json", readSecret},
	{".gemini/oauth_creds.json", readSecret},
	{".local/share/opencode/auth.json", readSecret},
	{".local/share/keyrings", readSecret},
	{".claude.json", readSecret},
	{".config/sops", readSecret},
	{".config/age", readSecret},
	{".config/anthropic", readSecret},
	{".config/openai", readSecret},
	{".config/cursor/auth.json", readSecret},
	{".config/goose/secrets.yaml", readSecret},
	{".qwen/oauth_creds.json", readSecret},
	{".local/share/amp/secrets.json", readSecret},
	{".cache/huggingface/token", readSecret},
	{".huggingface/token", readSecret},
	{"kaggle.json", readSecret},
	{".config/doctl", readSecret},
	{".config/scw", readSecret},
	{".config/tea", readSecret},
	{".config/pypoetry/auth.toml", readSecret},
	{".local/share/uv/credentials", readSecret},
	{".config/io.datasette.llm/keys.json", readSecret},
	{".config/hcloud", readSecret},
	{".config/linode-cli", readSecret},
	{".oci", readSecret},
	{".config/.wrangler", readSecret},
	{".config/netlify", readSecret},
	{".local/share/com.vercel.cli", readSecret},
	{".fly/config.yml", readSecret},
	{".config/supabase", readSecret},
	{".supabase/access-token", readSecret},
	{".config/stripe", readSecret},
	{".config/ngrok", readSecret},
	{".ngrok2", readSecret},
	{".config/configstore", readSecret},
	{".config/databricks", readSecret},
	{".databrickscfg", readSecret},
	{".snowsql", readSecret},
	{".snowflake", readSecret},
	{".sentryclirc", readSecret},
	{".rclone.conf", readSecret},
	{".config/containers/auth.json", readSecret},
	{".config/helm/registry", readSecret},
	{".config/argocd", readSecret},
	{".step", readSecret},
	{".config/borg", readSecret},
	{".nuget/nuget/nuget.config", readSecret},
	{".msmtprc", readSecret},
	{".mbsyncrc", readSecret},
	{".fetchmailrc", readSecret},
	{".vnc", readSecret},
	{".thunderbird", readSecret},
	{".config/signal", readSecret},
	{".config/slack", readSecret},
	{".config/discord", readSecret},
	{".config/bitwarden", readSecret},
	{".config/bitwarden cli", readSecret},
	{".config/filezilla", readSecret},
	{".config/remmina", readSecret},
	{".config/microsoft-edge", readSecret},
	{".config/vivaldi", readSecret},
	{".config/opera", readSecret},
	{".local/share/kwalletd", readSecret},
	{".electrum", readSecret},
	{".bitcoin", readSecret},
	{".ethereum", readSecret},
	{".config/solana/id.json", readSecret},
	{".config/keepassxc", readSecret},
	{".local/share/rbw", readSecret},
	{".lpass", readSecret},
	{".config/code/user/globalstorage", readSecret},
	{".local/share/mcfly", readSecret},
	{".local/state/bash/history", readSecret},
	{".local/share/atuin", readSecret},
	{".local/share/nushell/history.txt", readSecret},
	{".config/nushell/history.txt", readSecret},
	{".bash_sessions", readSecret},
	{".zsh_sessions", readSecret},
	{".local/state/nvim/shada", readSecret},
	{".local/share/nvim/shada", readSecret},
	{"library/keychains", readSecret},
	{"/etc/shadow", readSecret},
	{"/etc/shadow-", readSecret},
	{"/etc/gshadow", readSecret},
	{"/etc/gshadow-", readSecret},
	{"/etc/sudoers", readSecret},
	{"/etc/sudoers.d", readSecret},
	{"/etc/ssl/private", readSecret},
	{"/etc/ssh", readSecret},
	{"/etc/krb5.keytab", readSecret},
	{"/proc/kcore", readSecret},
	{"/dev/mem", readSecret},
	{"/dev/kmem", readSecret},
	{"/dev/port", readSecret},
	{"/run/secrets", readSecret},
	{"/var/run/secrets", readSecret},
	{"/run/docker.sock", readSecret},
	{"/var/run/docker.sock", readSecret},
}

// notSecret are the endings of files that show what a secret file looks like,
// and of the public halves.
var notSecret = [...]string{".example", ".sample", ".template", ".dist", ".defaults", ".schema", ".pub", "cacert.pem"}

// copyEndings are the endings under which editors and people keep what a file held before.
var copyEndings = [...]string{"~", ".bak", ".backup", ".old", ".orig", ".save", ".swp", ".swo", ".tmp"}

// originals are the names of the file that one of this folded name may be a copy of; "" for none.
func originals(name string) (original, other string) {
	if s, ok := strings.CutPrefix(name, "#"); ok && strings.HasSuffix(s, "#") { // of Emacs
		return s[:len(s)-1], ""
	}
	for _, end := range copyEndings {
		if s, ok := strings.CutSuffix(name, end); ok && s != "" {
			if strings.HasPrefix(end, ".sw") && s[0] == '.' { // of vim: .id_rsa.swp
				other = s[1:]
			}
			return s, other
		}
	}
	return "", ""
}

// A guardIndex finds guards by their first name.
type guardIndex struct {
	copies   bool // what is kept of a guarded file is guarded, too
	byName   map[string][]guardEntry
	ends     []guardEntry // *.pem, .env.*
	absolute []guardEntry // anchored ones: names holds one folded absolute path
}

type guardEntry struct {
	*guard
	names []string
}

// newGuardIndex compiles a table.
func newGuardIndex(table []guard, home string) *guardIndex {
	ix := &guardIndex{byName: make(map[string][]guardEntry, len(table))}
	home = trimSlash(foldPath(slashed(home)))
	for i := range table {
		g := &table[i]
		switch {
		case strings.HasPrefix(g.pattern, "~/"):
			if home != "" {
				ix.absolute = append(ix.absolute, guardEntry{g, []string{home + g.pattern[1:]}})
			}
		case g.pattern[0] == '/':
			ix.absolute = append(ix.absolute, guardEntry{g, []string{g.pattern}})
		case strings.Contains(g.pattern, "*"):
			ix.ends = append(ix.ends, guardEntry{g, strings.Split(g.pattern, "*")})
		default:
			names := strings.Split(g.pattern, "/")
			ix.byName[names[0]] = append(ix.byName[names[0]], guardEntry{g, names})
		}
	}
	return ix
}

// SecretNames knows the names of files that usually hold secrets.
type SecretNames struct{ index *guardIndex }

// NewSecretNames returns the built-in names.
func NewSecretNames() *SecretNames { return &SecretNames{secretIndex("")} }

// secretIndex compiles readGuards: a copy of a secret is one.
func secretIndex(home string) *guardIndex {
	ix := newGuardIndex(readGuards[:], home)
	ix.copies = true
	return ix
}

// Match reports whether a slash-separated path, relative to a root, has such a
// name, or lies below one.
func (n *SecretNames) Match(rel string) bool {
	folded := foldPath("/" + rel)
	_, ok := n.index.find(folded, folded, false)
	return ok && !isPublic(folded)
}

// A guardHit says that a path is guarded, and which part of it is the reason.
type guardHit struct {
	cell    cell
	pattern string
	part    string // the folded name in the path that a rule has to mean
	below   bool   // not the path itself, but something below it may be
}

// find looks for a guard of a folded absolute path. rel is the part that is
// searched by name: relative to the root inside it, the whole path outside.
func (ix *guardIndex) find(abs, rel string, tree bool) (hit guardHit, ok bool) {
	for i := range ix.absolute {
		e := &ix.absolute[i]
		if safefile.Below(e.names[0], abs) {
			return guardHit{cell: e.cell, pattern: e.pattern, part: e.names[0][strings.LastIndexByte(e.names[0], '/')+1:]}, true
		}
	}
	for rest := strings.TrimPrefix(rel, "/"); rest != ""; {
		name, tail, more := strings.Cut(rest, "/")
		entries := ix.named(name)
		for i := range entries {
			if full, partial := ix.matchNames(entries[i].names[1:], tail); full || partial && tree {
				part := name
				if names := entries[i].names; full && len(names) > 1 {
					part = names[len(names)-1]
				}
				return guardHit{entries[i].cell, entries[i].pattern, part, !full}, true
			}
		}
		if !more {
			return ix.findEnd(name)
		}
		rest = tail
	}
	return hit, false
}

// named finds the guards whose first name is name, or that of which it may be a copy.
func (ix *guardIndex) named(name string) []guardEntry {
	entries := ix.byName[name]
	if entries == nil && strings.IndexByte(name, '~') > 0 {
		entries = ix.short(name)
	}
	if entries == nil && ix.copies {
		original, other := originals(name)
		if entries = ix.byName[original]; entries == nil {
			entries = ix.byName[other]
		}
	}
	return entries
}

func (ix *guardIndex) findEnd(name string) (hit guardHit, ok bool) {
	original := ""
	if ix.copies {
		original, _ = originals(name)
	}
	for i := range ix.ends {
		e := &ix.ends[i]
		if matchOne(e.names, name) || original != "" && matchOne(e.names, original) {
			return guardHit{cell: e.cell, pattern: e.pattern, part: name}, true
		}
	}
	return hit, false
}

// short finds the guards that an 8.3 name may stand for.
func (ix *guardIndex) short(name string) (entries []guardEntry) {
	stem, ok := isShort(name)
	if !ok {
		return nil
	}
	for long, es := range ix.byName {
		if shortStem(long) == stem || long == ".gitmodules" && stem == "gi7eba" || long == ".gitattributes" && stem == "gi7d29" {
			entries = append(entries, es...)
		}
	}
	slices.SortFunc(entries, func(a, b guardEntry) int { return strings.Compare(a.pattern, b.pattern) })
	return entries
}

// matchNames reports whether rest begins with names, or ends before they do.
func (ix *guardIndex) matchNames(names []string, rest string) (full, partial bool) {
	for _, want := range names {
		if rest == "" {
			return false, true
		}
		name, tail, _ := strings.Cut(rest, "/")
		if name != want {
			if original, _ := originals(name); !ix.copies || original != want {
				return false, false
			}
		}
		rest = tail
	}
	return true, false
}

// gitCell guards the inside of a repository's .git: what git runs, and what
// tells it where to look. Only commands may touch the rest of it.
func gitCell(rel string, a *Access) (hit guardHit, ok bool) {
	for rest := strings.TrimPrefix(rel, "/"); rest != ""; {
		name, tail, more := strings.Cut(rest, "/")
		if name == ".git" || name[0] == 'g' && isShortGit(name) {
			return gitInside(tail, rest != rel, a)
		}
		if !more {
			break
		}
		rest = tail
	}
	return hit, false
}

func isShortGit(name string) bool {
	stem, ok := isShort(name)
	return ok && stem == "git"
}

// removesWhole reports whether a command takes a directory away with all it holds, or what is not there yet.
func removesWhole(a *Access) bool {
	return a.Tool == commandTool && a.Op == Delete && a.Opaque == "" && !a.Below && (a.File == Missing || a.File == Dir && a.Tree && a.Names == "")
}

// gitInside is gitCell for what lies at rest in a .git, which is nested where it is not the root's own.
func gitInside(rest string, nested bool, a *Access) (hit guardHit, ok bool) {
	first, _, _ := strings.Cut(rest, "/")
	switch {
	case rest == "" && nested && removesWhole(a): // with all it holds nothing runs what it says; what git keeps there is kept for undo
	case rest == "":
		return gitItself(a)
	case a.Op == Settings && a.Tool == commandTool && (rest == "config" || first == "modules" && path.Base(rest) == "config"):
	case !gitChanges(rest), a.Tree && gitHolds(first):
		return guardHit{cell: writeProtected, pattern: ".git/" + first, part: first}, true
	case a.Tool != commandTool:
		return guardHit{cell: writeSensitive, pattern: ".git/**", part: ".git"}, true
	}
	return hit, false
}

// gitChanges reports whether git itself changes what lies at a path in a
// repository's .git: objects, refs and their logs, the index, and what a merge or
// rebase is at. The rest says what git runs and where it looks, and stays.
func gitChanges(rest string) bool {
	first, tail, _ := strings.Cut(rest, "/")
	switch first {
	case "refs", "logs", "reftable", "rebase-merge", "rebase-apply", "sequencer", "rr-cache", "lfs":
		return true
	case "objects":
		above, name := path.Split(tail)
		return above != "info/" || !gitLooksElsewhere(name)
	case "info":
		return tail != "attributes" && !gitLooksElsewhere(tail)
	case "worktrees":
		_, inside, _ := strings.Cut(tail, "/")
		return inside == "" || gitChanges(inside)
	case "modules": // a submodule's name may have slashes in it, and parts such as refs and logs
		before, rest := "", tail
		for n := 0; rest != ""; n++ {
			name, after, _ := strings.Cut(rest, "/")
			switch name {
			case "hooks", "config", "config.worktree", "commondir", "gitdir", "attributes":
				return false
			}
			if before == "info" && gitLooksElsewhere(name) {
				return false
			}
			if n > 1 && GitBranches(before+"/"+name) {
				return true
			}
			before, rest = name, after
		}
		return true
	}
	if tail != "" {
		return false
	}
	for _, w := range [...]string{
		"head", "*_head", "index", "index.*", "*.lock", "merge_*", "*_msg", "*_editmsg", "packed-refs", "packed-refs.*", "shallow", "auto_merge", "bisect_*",
		"gc.pid", "gc.log", "sharedindex.*", "next-index-*", "*.diff", "*.patch", "tmp_*", "squash_*", "notes_*",
	} {
		if ok, _ := path.Match(w, first); ok {
			return true
		}
	}
	return false
}

// gitLooksElsewhere reports whether a file in an info directory of git's names other
// directories with objects in them, or other parents for commits.
func gitLooksElsewhere(name string) bool {
	return name == "alternates" || name == "http-alternates" || name == "grafts"
}

// GitBranches reports whether the directory of a repository's that ends in these two names
// has branches, tags and notes in it by their names, or what they were.
func GitBranches(names string) bool {
	return slices.Contains([]string{"refs/heads", "refs/tags", "refs/remotes", "refs/notes", "logs/refs"}, names)
}

// gitHolds reports whether a directory of .git that changes holds something
// that does not.
func gitHolds(first string) bool {
	return first == "info" || first == "modules" || first == "worktrees"
}

// gitItself decides about the name .git: deleting it loses the history, and a
// file of that name sends git elsewhere.
func gitItself(a *Access) (guardHit, bool) {
	hit := guardHit{cell: writeProtected, pattern: ".git", part: ".git"}
	if a.Op != Delete && a.Tool == commandTool {
		hit.cell, hit.below = writeSensitive, true
	}
	return hit, true
}
