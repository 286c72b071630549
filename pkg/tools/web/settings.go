package web

import (
	"bufio"
	"cmp"
	"os"
	"path/filepath"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/tool"
	"github.com/agentkit-go/agentkit/pkg/websearch"
)

// KeysFile is in the directory of the configuration. It holds variables for those who want no keys in their environment. Its name is
// that of a secret, so the policy keeps tools and commands from it.
const KeysFile = "keys.env"

// settings looks a variable up in the environment, and in the user's file of keys.
func settings(env *tool.Env) func(string) string {
	kept := map[string]string{}
	if env.Sources != nil {
		if dir := cmp.Or(env.Sources.Own, env.Sources.User); dir != "" {
			kept = readKeys(filepath.Join(dir, KeysFile))
		}
	}
	return func(name string) string {
		if name == "" {
			return ""
		}
		if value := env.Getenv(name); value != "" {
			return value
		}
		return kept[name]
	}
}

// Prospect names the providers that a search asks, in their order, and the variables that
// set a proxy. It asks nobody.
func Prospect(env *tool.Env) (providers, proxies []string, err error) {
	list, err := websearch.Providers(websearch.Auto, settings(env))
	for i := range list {
		providers = append(providers, list[i].Name)
	}
	for _, name := range []string{"HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "NO_PROXY", "no_proxy"} {
		if env.Getenv(name) != "" {
			proxies = append(proxies, name)
		}
	}
	return providers, proxies, err
}

// readKeys reads lines NAME=value. A file that is not there holds none.
func readKeys(path string) map[string]string {
	kept := map[string]string{}
	f, err := os.Open(path)
	if err != nil {
		return kept
	}
	defer f.Close()
	for in := bufio.NewScanner(f); in.Scan(); {
		name, value, ok := strings.Cut(strings.TrimPrefix(strings.TrimSpace(in.Text()), "export "), "=")
		if ok && !strings.HasPrefix(name, "#") {
			value, _, _ = strings.Cut(value, " #")
			kept[strings.TrimSpace(name)] = strings.Trim(strings.TrimSpace(value), `"'`)
		}
	}
	return kept
}
