package sandbox

import (
	"path"
	"strings"
)

// below reports whether path is dir or in it.
func below(path, dir string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}

func belowAny(path string, dirs []string) bool {
	for _, d := range dirs {
		if below(path, d) {
			return true
		}
	}
	return false
}

func parent(p string) string { return path.Dir(p) }
