package machine

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// LookPath finds a program as a shell in the directory dir does. A relative
// entry of PATH counts from there.
func LookPath(name, path, dir string) (string, bool) {
	if strings.ContainsRune(name, filepath.Separator) || strings.Contains(name, "/") {
		if !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
		if remote(name) || !Runnable(name) {
			return name, false
		}
		return longName(name), true
	}
	for _, entry := range filepath.SplitList(path) {
		if !filepath.IsAbs(entry) {
			entry = filepath.Join(dir, entry)
		}
		for _, ext := range extensions(name) {
			if full := filepath.Join(entry, name+ext); Runnable(full) {
				return longName(full), true
			}
		}
	}
	return "", false
}

// FirstOnPath finds a program in the absolute entries of PATH: the first of that name that
// counts; "" where there is none.
func FirstOnPath(name, path string, counts func(program string) bool) string {
	for _, entry := range filepath.SplitList(path) {
		if !filepath.IsAbs(entry) {
			continue
		}
		if program, ok := LookPath(name, entry, entry); ok && counts(program) {
			return program
		}
	}
	return ""
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

// Runnable reports whether a file is a program that can be started.
func Runnable(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular() && (runtime.GOOS == "windows" || info.Mode().Perm()&0o111 != 0)
}

// Shells are the ones whose language the analysis understands. Fish, nu and
// the C shells speak others.
func Shells() []string {
	if runtime.GOOS == "windows" {
		return []string{"powershell", "pwsh", "cmd", "bash", "sh"}
	}
	return []string{"bash", "zsh", "sh", "dash", "ksh"}
}

// TempDirs are the directories for temporary files: $TMPDIR and the system's.
func TempDirs(getenv func(string) string) []string {
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

// RealDir is dir without symbolic links; "" unless it is absolute, dir itself where
// it cannot be followed.
func RealDir(dir string) string {
	if !filepath.IsAbs(dir) {
		return ""
	}
	if resolved, err := filepath.EvalSymlinks(dir); err == nil {
		return resolved
	}
	return dir
}

// Spelled is the one spelling of a path among those that name the same file:
// PATH has System32 as system32 more often than not.
func Spelled(path string) string {
	if runtime.GOOS == "windows" {
		return strings.ToLower(path)
	}
	return path
}

// Self is the absolute path of this program; "" where unknown.
func Self() string {
	path, err := os.Executable()
	if err != nil {
		return ""
	}
	return path
}

// OwnDirs returns the directories of a PATH, but for those in known, that nobody else
// may write to.
func OwnDirs(known []string, path string) (list []string) {
	for _, dir := range filepath.SplitList(path) {
		if slices.Contains(known, dir) {
			continue
		}
		dir = RealDir(dir)
		info, err := os.Stat(dir)
		if err == nil && info.IsDir() && (runtime.GOOS == "windows" || info.Mode().Perm()&0o002 == 0) {
			list = append(list, dir)
		}
	}
	return list
}
