package policycmd

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/safefile"
	"github.com/agentkit-go/agentkit/pkg/tool"
)

func (h Host) initCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "init",
		Short: "write a starting policy for this repository",
		Long: strings.TrimSpace(`
Looks at what the repository is made of (Go, Node, Python, Rust, Make) and writes
.agentkit/policy.yaml with comments. What it allows counts once you have read it
and said "agentkit policy trust".`),
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if err := h.Person(); err != nil {
				return err
			}
			root, err := h.Root()
			if err != nil {
				return err
			}
			name := filepath.Join(root, ".agentkit", "policy.yaml")
			have, err := policy.UserFile(filepath.Dir(name))
			if err != nil {
				return err
			}
			if _, err := os.Lstat(have); err == nil {
				return tool.Errorf(tool.Conflict, "%s exists already", have).WithHint("edit it, or move it away first")
			}
			text := policy.InitFile(repoFacts(root))
			title, said := "wrote ", "# "
			if h.DryRun() {
				title, said = "would write ", "# would be "
			}
			if err := writeFirst(root, text, h.DryRun()); err != nil {
				return err
			}
			h.Emit(&tool.Result{Title: title + name, Output: said + name + "\n# next: read it, change it, then run agentkit policy trust\n\n" + text, Metadata: map[string]string{"path": name}})
			return nil
		},
	}
}

// writeFirst writes the policy of a root, or finds out only that it could. It writes nowhere else: a
// repository may bring a link that leads to the user's policy, of which all counts at once.
func writeFirst(root, text string, dry bool) error {
	in, err := os.OpenRoot(root)
	if err != nil {
		return err
	}
	defer in.Close() //nolint:errcheck // it was only looked at
	if _, err := in.Stat(".agentkit"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return tool.Errorf(tool.Conflict, "%s cannot hold a policy: %w", filepath.Join(root, ".agentkit"), err).WithHint("make it a directory of the repository, and no link that leads out of it")
	}
	if dry {
		return nil
	}
	if err := in.MkdirAll(".agentkit", 0o755); err != nil {
		return err
	}
	f, err := in.OpenFile(filepath.Join(".agentkit", "policy.yaml"), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

// repoFacts looks at what lies in a repository's root.
func repoFacts(root string) policy.RepoFacts {
	has := func(name string) bool {
		_, err := os.Stat(filepath.Join(root, name))
		return err == nil
	}
	f := policy.RepoFacts{Go: has("go.mod"), Rust: has("Cargo.toml"), Make: has("Makefile")}
	for _, n := range [][2]string{{"package-lock.json", "npm"}, {"pnpm-lock.yaml", "pnpm"}, {"yarn.lock", "yarn"}, {"bun.lock", "bun"}, {"package.json", "npm"}} {
		if has(n[0]) && has("package.json") {
			f.Node = n[1]
			break
		}
	}
	for _, p := range [][2]string{{"uv.lock", "uv"}, {"poetry.lock", "poetry"}, {"pyproject.toml", "pytest"}, {"setup.py", "pytest"}, {"pytest.ini", "pytest"}} {
		if has(p[0]) {
			f.Python = p[1]
			break
		}
	}
	for _, name := range []string{"Gemfile", "pom.xml", "build.gradle", "build.gradle.kts", "composer.json", "mix.exs", "Package.swift", "requirements.txt", "deno.json", "pubspec.yaml", "environment.yml"} {
		f.Packages = f.Packages || has(name)
	}
	f.Remotes = policy.HasRemotes(root)
	var pkg struct {
		Scripts map[string]string `json:"scripts"`
	}
	if data, err := safefile.ReadRegular(filepath.Join(root, "package.json"), maxManifest); err == nil && json.Unmarshal(data, &pkg) == nil {
		for name := range pkg.Scripts {
			f.Scripts = append(f.Scripts, name)
		}
		slices.Sort(f.Scripts)
	}
	if data, err := safefile.ReadRegular(filepath.Join(root, "Makefile"), maxManifest); err == nil {
		f.Targets = makeTargets(string(data))
	}
	return f
}

// maxManifest bounds what is read of a project's files, in bytes.
const maxManifest = 4 << 20

// makeTargets are the plain names in front of a colon at the start of a line.
func makeTargets(text string) []string {
	var list []string
	for line := range strings.Lines(text) {
		name, rest, ok := strings.Cut(line, ":")
		if ok && name != "" && !strings.HasPrefix(rest, "=") && !strings.ContainsAny(name, " \t.#$%=/\\") && !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	return list
}
