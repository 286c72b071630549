package shellparse

import (
	"path"
	"runtime"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/policy"
)

// goenv is what go env prints of one of its directories, where that is certain: the
// command's environment gives it, the user's settings of go, or neither. A script
// that sets one of the variables, or may have changed the settings, is not followed.
func (w *walker) goenv(words []word) (string, bool) {
	if len(words) != 2 || words[0].Text != "env" || words[0].Dynamic || words[1].Dynamic || w.dirty || w.world.ReadFile == nil || w.world.Resolve == nil || runtime.GOOS == "windows" {
		return "", false
	}
	switch name := words[1].Text; name {
	case "GOMODCACHE", "GOPATH":
		at := w.goSetting(name)
		switch {
		case at == "" && name == "GOMODCACHE":
			if at = w.goSetting("GOPATH"); at == "" {
				at = w.goHome()
			}
			if at != "" {
				at = path.Join(at, "pkg/mod")
			}
		case at == "":
			at = w.goHome()
		}
		return at, path.IsAbs(at) && !strings.ContainsAny(at, ":\n")
	}
	return "", false
}

// goHome is what GOPATH is where nobody sets it.
func (w *walker) goHome() string {
	if home, ok := w.given("HOME"); ok && path.IsAbs(home) {
		return path.Join(home, "go")
	}
	return ""
}

// goSetting is one of go's settings; "" where it has none, and a colon where it
// cannot be told.
func (w *walker) goSetting(name string) string {
	const unknown = ":"
	value, ok := w.given(name)
	if !ok || value != "" {
		return cmpOr(value, unknown)
	}
	file, ok := w.given("GOENV")
	if !ok || file != "" {
		return unknown
	}
	home, ok := w.given("HOME")
	config, sure := w.given("XDG_CONFIG_HOME")
	if !ok || !sure || home == "" {
		return unknown
	}
	if config = cmpOr(config, path.Join(home, ".config")); runtime.GOOS == "darwin" {
		config = path.Join(home, "Library/Application Support")
	}
	if a, err := w.world.Resolve(w.world.Dir, path.Join(config, "go/env")); err != nil || a.File == "" {
		return unknown
	} else if a.File == policy.Missing {
		return ""
	}
	text, err := w.world.ReadFile(path.Join(config, "go/env"))
	if err != nil {
		return unknown
	}
	for line := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(strings.TrimSpace(line), name+"="); ok {
			return value
		}
	}
	return ""
}

// given is a variable of the environment that the command starts in; ok tells that it
// still has that value.
func (w *walker) given(name string) (value string, ok bool) {
	if _, set := w.st.find(name); set || w.st.gone != "" || w.later || w.world.Getenv == nil {
		return "", false
	}
	value, _ = w.world.Getenv(name)
	return value, true
}
