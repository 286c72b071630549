//go:build !linux

package machine

func installed(names []string, path, dir string) map[string]bool {
	found := map[string]bool{}
	for _, name := range names {
		_, found[name] = LookPath(name, path, dir)
	}
	return found
}
