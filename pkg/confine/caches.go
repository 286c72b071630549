package confine

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/machine"
	"github.com/agentkit-go/agentkit/pkg/safefile"
	"github.com/agentkit-go/agentkit/pkg/tool"
)

// A cache is where one program keeps what it would otherwise make or fetch again.
type cache struct {
	program  string
	variable string // of the environment: base, where it is set; "" for none
	base     string // below the home; @ is the directory of caches; "" for none without the variable
	data     string // the directories in base that hold data, . for base itself; !NAME is a file there that does not
}

// cacheTable lists directories of data only. What lies beside them is what the
// next command outside would run or be told by: ~/.cargo/bin and config.toml,
// ~/.gradle/init.d, ~/.npm/_npx, ~/.cache/pre-commit.
func cacheTable() []cache {
	return []cache{
		{"bun", "BUN_INSTALL_CACHE_DIR", ".bun/install/cache", "."},
		{"bundle", "BUNDLE_USER_CACHE", ".bundle/cache", "."},
		{"gem", "", "@/gem", "specs"},
		{"cabal", "CABAL_DIR", ".cabal", "packages store logs"},
		{"cabal", "", "@/cabal", "."},
		{"cabal", "", ".local/state/cabal", "store logs"},
		{"cargo", "CARGO_HOME", ".cargo", "registry git"},
		{"ccache", "CCACHE_DIR", "@/ccache", ". !ccache.conf"},
		{"", "", ".ccache", ". !ccache.conf"},
		{"clang", "", "@/clang", "ModuleCache"},
		{"composer", "COMPOSER_CACHE_DIR", "@/composer", "."},
		{"", "COMPOSER_HOME", ".composer", "cache"},
		{"coursier", "COURSIER_CACHE", "@/coursier/v1", "."},
		{"deno", "DENO_DIR", "@/deno", "."},
		{"dotnet", "NUGET_PACKAGES", ".nuget/packages", "."},
		{"dotnet", "", ".local/share/NuGet", "http-cache v3-cache"},
		{"dune", "DUNE_CACHE_ROOT", "@/dune", "."},
		{"fc-cache", "", "@/fontconfig", "."},
		{"go", "GOCACHE", "@/go-build", "."},
		{"go", "GOPATH", "go", "pkg/mod pkg/sumdb"},
		{"go", "GOMODCACHE", "", "."},
		{"golangci-lint", "GOLANGCI_LINT_CACHE", "@/golangci-lint", "."},
		{"gopls", "", "@/gopls", "."},
		{"goimports", "", "@/goimports", "."},
		{"gradle", "GRADLE_USER_HOME", ".gradle", "caches daemon notifications workers .tmp"},
		{"helm", "HELM_CACHE_HOME", "@/helm", "."},
		{"mix", "HEX_HOME", ".hex", "packages"},
		{"mvn", "", ".m2", "repository"},
		{"node-gyp", "npm_config_devdir", "@/node-gyp", "."},
		{"npm", "npm_config_cache", ".npm", "_cacache _logs"},
		{"python3", "PIP_CACHE_DIR", "@/pip", "."},
		{"pipenv", "PIPENV_CACHE_DIR", "@/pipenv", "."},
		{"pnpm", "npm_config_store_dir", ".local/share/pnpm/store", "."},
		{"pnpm", "", "@/pnpm", "metadata metadata-full metadata-v1.1 metadata-v1.2 metadata-v1.3 metadata-full-v1.3 metadata-ff-v1.3"},
		{"poetry", "POETRY_CACHE_DIR", "@/pypoetry", "cache artifacts"},
		{"black", "BLACK_CACHE_DIR", "@/black", "."},
		{"", "", "@/matplotlib", "."},
		{"pylint", "PYLINTHOME", "@/pylint", "."},
		{"rebar3", "", "@/rebar3", "hex"},
		{"ruff", "RUFF_CACHE_DIR", "@/ruff", "."},
		{"sbt", "", ".ivy2", "cache"},
		{"sbt", "", ".sbt", "boot 1.0/zinc"},
		{"sccache", "SCCACHE_DIR", "@/sccache", "."},
		{"stack", "STACK_ROOT", ".stack", "pantry snapshots"},
		{"staticcheck", "STATICCHECK_CACHE", "@/staticcheck", "."},
		{"swift", "", "@/org.swift.swiftpm", "."},
		{"tsc", "", "@/typescript", "."},
		{"turbo", "TURBO_CACHE_DIR", "@/turbo", "."},
		{"uv", "UV_CACHE_DIR", "@/uv", "."},
		{"yarn", "YARN_CACHE_FOLDER", "@/yarn", "."},
		{"yarn", "", ".yarn/berry", "cache index metadata"},
		{"zig", "ZIG_GLOBAL_CACHE_DIR", "@/zig", "."},
	}
}

// A toolCache is a directory of a tool's cache, or a file in one.
type toolCache struct {
	dir     string // where it is, or would be made
	file    string // in dir, which commands may not write; "" for the directory itself, which they may
	real    string // dir without links; "" where there is none yet
	program string // whose it is; "" for one that is not made
}

// findCaches finds the caches of tools: directories that exist, or whose program is
// there and could not make them from inside of the sandbox. Nothing is changed.
// Open are the directories that may be written anyway. What lies in them is left
// out, for a command may have put a link there that leads elsewhere.
func findCaches(env *tool.Env, home string, open []string) (list []toolCache) {
	f := cacheFinder{env: env, home: home, open: open}
	f.links.List(home)
	if _, err := os.Stat(home); home != "" && err == nil {
		f.homes = []string{filepath.Join(home, ".cache")}
		if dir := env.Getenv("XDG_CACHE_HOME"); filepath.IsAbs(dir) {
			f.homes[0] = dir
		}
		if dir := filepath.Join(home, "Library/Caches"); safefile.Exists(dir) {
			f.homes = append(f.homes, dir)
		}
		f.links.List(f.homes[0])
	}
	for _, c := range cacheTable() {
		for _, base := range f.bases(&c) {
			for name := range strings.FieldsSeq(c.data) {
				if file, ok := strings.CutPrefix(name, "!"); !ok {
					list = f.find(list, &c, filepath.Join(base, name))
				} else if filepath.IsAbs(base) {
					real, _, _ := f.links.Resolve(base)
					list = append(list, toolCache{dir: base, file: file, real: real})
				}
			}
		}
	}
	var missing []string
	for _, c := range list {
		if c.real == "" && c.file == "" && !slices.Contains(missing, c.program) {
			missing = append(missing, c.program)
		}
	}
	there := machine.Installed(missing, env.Getenv("PATH"), home)
	return slices.DeleteFunc(list, func(c toolCache) bool { return c.real == "" && c.file == "" && !there[c.program] })
}

// makeCaches makes the caches that are missing, and returns the directories that
// commands may write, and the files in them that they may not.
func makeCaches(list []toolCache, home string) (dirs, files []string) {
	for _, c := range list {
		if c.real == "" && (c.file == "" && os.MkdirAll(c.dir, 0o700) == nil || c.file != "" && safefile.Exists(c.dir)) {
			c.real = machine.RealDir(c.dir)
			if info, err := os.Stat(c.real); c.file == "" && (err != nil || !holdsCache(info, c.real, home)) {
				continue
			}
		}
		switch {
		case c.real == "":
		case c.file != "":
			files = append(files, filepath.Join(c.real, c.file))
		default:
			dirs = append(dirs, c.real)
		}
	}
	return dirs, files
}

// holdsCache reports whether a directory may be one that commands write.
func holdsCache(info fs.FileInfo, real, home string) bool {
	return info.IsDir() && !safefile.Below(real, home)
}

type cacheFinder struct {
	env   *tool.Env
	home  string
	homes []string // the directories of caches
	open  []string
	links safefile.Links
}

// bases are the directories that c.data is relative to.
func (f *cacheFinder) bases(c *cache) []string {
	if c.variable != "" {
		// Of a list, as GOPATH may be one, what is fetched goes to the first.
		if dirs := filepath.SplitList(f.env.Getenv(c.variable)); len(dirs) > 0 && dirs[0] != "" {
			return dirs[:1]
		}
	}
	switch below, shared := strings.CutPrefix(c.base, "@/"); {
	case c.base == "" || len(f.homes) == 0:
		return nil
	case shared:
		var list []string
		for _, dir := range f.homes {
			list = append(list, filepath.Join(dir, below))
		}
		return list
	}
	return []string{filepath.Join(f.home, c.base)}
}

// find adds dir to the list, unless there is none to be, or commands may not write it.
func (f *cacheFinder) find(list []toolCache, c *cache, dir string) []toolCache {
	if !filepath.IsAbs(dir) || slices.ContainsFunc(f.open, func(o string) bool { return safefile.Below(o, dir) }) {
		return list
	}
	real, info, err := f.links.Resolve(dir)
	switch {
	case err == nil && !holdsCache(info, real, f.home):
		return list
	case err != nil && (c.program == "" || f.links.There(dir)): // a link that leads nowhere is there
		return list
	}
	return append(list, toolCache{dir: dir, real: real, program: c.program})
}
