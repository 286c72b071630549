package cmd

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// lookPath finds a program as a shell in the directory dir does. A relative
// entry of PATH counts from there.
func lookPath(name, path, dir string) (string, bool) {
	if strings.ContainsRune(name, filepath.Separator) || strings.Contains(name, "/") {
		if !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
		if remote(name) || !runnable(name) {
			return name, false
		}
		return longName(name), true
	}
	for _, entry := range filepath.SplitList(path) {
		if !filepath.IsAbs(entry) {
			entry = filepath.Join(dir, entry)
		}
		for _, ext := range extensions(name) {
			if full := filepath.Join(entry, name+ext); runnable(full) {
				return longName(full), true
			}
		}
	}
	return "", false
}

// extensions are those that Windows tries for a program, in its order.
func extensions(name string) []string {
	switch {
	case runtime.GOOS != "windows":
		return []string{""}
	case filepath.Ext(name) != "":
		return []string{"", ".com", ".exe", ".bat", ".cmd"}
	}
	return []string{".com", ".exe", ".bat", ".cmd"}
}

// runnable reports whether a file is a program that can be started.
func runnable(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular() && (runtime.GOOS == "windows" || info.Mode().Perm()&0o111 != 0)
}

// shells are the ones whose language the analysis understands. Fish, nu and
// the C shells speak others.
func shells() []string {
	if runtime.GOOS == "windows" {
		return []string{"powershell", "pwsh", "cmd", "bash", "sh"}
	}
	return []string{"bash", "zsh", "sh", "dash", "ksh"}
}

// tempDirs are the directories for temporary files: $TMPDIR and the system's.
func tempDirs(getenv func(string) string) []string {
	var list []string
	add := func(dir string) {
		if resolved, err := filepath.EvalSymlinks(dir); err == nil && filepath.IsAbs(resolved) && resolved != "/" {
			list = append(list, resolved)
		}
	}
	if runtime.GOOS == "windows" {
		add(getenv("TEMP"))
		return list
	}
	add("/tmp")
	add("/var/tmp")
	if dir := getenv("TMPDIR"); dir != "" {
		add(dir)
	}
	return list
}

// realDir is dir without symbolic links; "" unless it is absolute, dir itself where
// it cannot be followed.
func realDir(dir string) string {
	if !filepath.IsAbs(dir) {
		return ""
	}
	if resolved, err := filepath.EvalSymlinks(dir); err == nil {
		return resolved
	}
	return dir
}

// below reports whether dir is parent or lies in it; both are resolved.
func below(dir, parent string) bool {
	return dir == parent || strings.HasPrefix(dir, strings.TrimSuffix(parent, string(filepath.Separator))+string(filepath.Separator))
}
