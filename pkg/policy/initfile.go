package policy

import (
	"slices"
	"strings"
)

// RepoFacts is what a starting policy is made from.
type RepoFacts struct {
	Go, Rust, Make bool
	Node           string   // the package manager: npm, pnpm, yarn or bun; "" for none
	Python         string   // what runs its tests: pytest, poetry, uv …; "" for none
	Scripts        []string // names of the package's scripts, such as test and build
	Targets        []string // names of make's targets
	Packages       bool     // another language's manifest lies there: a Gemfile, pom.xml, composer.json …
	Remotes        bool     // the repository has remotes
}

// InitFile returns a commented policy to start from, in YAML. It loads as it
// is, with its tests where the caller's Analyze knows shell commands.
func InitFile(f RepoFacts) string {
	var b strings.Builder
	b.WriteString(initHead)
	section(&b, "Version control: looking is allowed anyway; these change the repository only.",
		"git add *", "git commit *", "git switch *", "git fetch *")
	if f.Go {
		section(&b, "Go", "go build *", "go test *", "go vet *", "gofmt *", "go mod tidy")
	}
	if f.Rust {
		section(&b, "Rust", "cargo build *", "cargo test *", "cargo check *", "cargo clippy *", "cargo fmt *")
	}
	if f.Node != "" {
		section(&b, "Node", nodeRules(f)...)
	}
	if f.Python != "" {
		section(&b, "Python", pythonRules(f.Python)...)
	}
	if f.Make {
		section(&b, "Make", makeRules(f.Targets)...)
	}
	b.WriteString(initRules + networkLine(f) + initTail)
	return b.String()
}

const initHead = `# What agents may do here. Deny beats ask beats allow, in whatever order the
# rules stand; what no rule mentions, the profile decides.
#
#   TOOL(PATTERN)   bash words: * any further words, ? one word, a*b inside a word
#                   read and edit: globs relative to the root, or absolute, or ~/
#                   fetch: https://HOST/PATH globs, or domain:HOST
#
# Try it:  agentkit policy explain bash 'git push --force'
version: 1

# readonly: nothing changes.    workspace: changes stay in this directory.
# open: asks where workspace denies.    argv: listed programs only, no shell.
profile: workspace

allow:
`

const initRules = `
ask:
  - bash(git push *)

deny:
  - rule: bash(git push * --force *)
    reason: others work on the same branches; push without force
  - rule: bash(git push * -f *)
    reason: others work on the same branches; push without force
  - read(**/*.pem)

# Writes here are denied even where an edit rule allows them.
# protect: [deploy/**]

`

const initTail = `# env: {pass: [GOPROXY], drop: ["*_TOKEN"]}
# limits: {timeout_ms: 120000, output_bytes: 51200, processes: 2000, memory_bytes: 4000000000}
# undo: {commands: destructive, max_bytes: 1073741824, keep: 7d}

# Checked whenever the policy is loaded; a wrong expectation refuses it.
# tests:
#   - {bash: "git push --force origin main", want: deny}
`

// networkLine opens what the repository's kind needs: the registries where it has a
// manifest of packages, its remotes where it has some.
func networkLine(f RepoFacts) string {
	var list []string
	if f.Packages || f.Go || f.Rust || f.Node != "" || f.Python != "" {
		list = append(list, "packages")
	}
	if f.Remotes {
		list = append(list, "remotes")
	}
	if list == nil {
		return "# Hosts that commands reach without a question.\n# network: {allow: [example.org]}\n"
	}
	return "# Hosts that commands read from without a question: registries of packages, and the\n# repository's remotes, where it has them.\nnetwork: {allow: [" + strings.Join(list, ", ") + "]}\n"
}

func section(b *strings.Builder, title string, commands ...string) {
	if len(commands) == 0 {
		return
	}
	b.WriteString("  # " + title + "\n")
	for _, c := range commands {
		b.WriteString("  - " + yamlText("bash("+c+")") + "\n")
	}
}

func nodeRules(f RepoFacts) (rules []string) {
	for _, script := range f.Scripts {
		if plainWord(script) && !publishes(script) {
			rules = append(rules, f.Node+" run "+script)
		}
	}
	if slices.Contains(f.Scripts, "test") || f.Node == "bun" { // which runs tests itself
		rules = append(rules, f.Node+" test")
	}
	return rules
}

// publishes reports whether a script or a target has a name of those that others see the effects of.
func publishes(name string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc([]string{"publish", "deploy", "release", "upload", "push"}, func(s string) bool { return strings.Contains(name, s) })
}

func pythonRules(runner string) []string {
	switch runner {
	case "poetry", "uv":
		return []string{runner + " run pytest *"}
	}
	return []string{"pytest *"}
}

func makeRules(targets []string) (rules []string) {
	for _, t := range targets {
		if plainWord(t) && !publishes(t) {
			rules = append(rules, "make "+t)
		}
	}
	if len(targets) == 0 {
		rules = []string{"make"}
	}
	return rules
}

// plainWord reports whether a name of somebody else's file can stand in a
// rule as it is.
func plainWord(s string) bool {
	return s != "" && s[0] != '-' && strings.Trim(strings.ToLower(s), "abcdefghijklmnopqrstuvwxyz0123456789_-.:/") == ""
}
