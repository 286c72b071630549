// Package safefile holds the ways to touch files that others touch too: locks
// between processes, whole files replaced at once, private directories that are
// held open, and the question whether one path lies below another.
package safefile

import (
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"
)

// ErrUnsafe is the cause when a private file or directory is not ours alone.
var ErrUnsafe = errors.New("unsafe path")

// ErrLocked is returned when someone else holds a lock.
var ErrLocked = errors.New("the lock is held")

// MaxFile is the size in bytes beyond which Dir.ReadFile refuses a file.
const MaxFile = 64 << 20

// ModeBits are the bits of a mode that can be set: permissions, set-user-ID, set-group-ID and sticky.
const ModeBits = fs.ModePerm | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky

// TempSuffix ends the names of the files that WriteFile makes on its way, which
// begin with a dot. A killed process leaves them.
const TempSuffix = ".tmp"

// WriteFile replaces the file at path as [Dir.WriteFile] does. The
// directory is made private when it is missing, and may be anybody's when it is
// not. A symbolic link is followed, and stays.
func WriteFile(path string, data []byte, sync bool) error {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	dir, name := filepath.Split(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	d := &Dir{root: root, path: dir}
	return errors.Join(d.replace(name, data, sync), d.Close())
}

// Below reports whether path is dir or lies below it. Both are clean, and
// either absolute or relative to the same directory. Nothing lies below "".
func Below(dir, path string) bool {
	_, ok := Rel(dir, path)
	return ok
}

// InGit reports whether a path is something called .git, or lies below it.
func InGit(path string) bool { return BelowGit(path + "/") }

// BelowGit reports whether a path lies below something called .git.
func BelowGit(path string) bool { return strings.Contains("/"+filepath.ToSlash(path), "/.git/") }

// GitPasses reports whether what has this name below .git is there for a moment only, as git's locks and what it has not
// written to the end yet.
func GitPasses(path string) bool {
	name := filepath.Base(path)
	return strings.HasSuffix(name, ".lock") || strings.HasPrefix(name, "tmp_")
}

// Rel returns the part of path below dir, "." for dir itself, and whether it
// lies there: see [Below].
func Rel(dir, path string) (rel string, ok bool) {
	rest, ok := strings.CutPrefix(path, dir)
	switch {
	case !ok || dir == "":
		return "", false
	case rest == "":
		return ".", true
	case os.IsPathSeparator(dir[len(dir)-1]): // the root of a file system
		return rest, true
	case os.IsPathSeparator(rest[0]):
		return rest[1:], true
	}
	return "", false
}

// Up yields path and the directories above it as far as dir, the lowest first; nothing
// where path does not lie below dir: see [Below].
func Up(dir, path string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for at := path; Below(dir, at) && yield(at); at = filepath.Dir(at) {
			if at == filepath.Dir(at) { // the root of a file system has nothing above
				return
			}
		}
	}
}

// Exists reports whether a path names something, also a link that leads nowhere. What cannot be looked at does not.
func Exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// Empty reports whether a directory that was just read holds nothing, as in Empty(os.ReadDir(dir)). One that could not be read
// may hold something.
func Empty(list []fs.DirEntry, err error) bool { return err == nil && len(list) == 0 }

// OpenRegular opens a regular file for reading. It follows no link at the end
// of the path, and does not wait for what is something else.
func OpenRegular(path string) (*os.File, error) { return openRegular(path, nofollow) }

// FollowRegular is OpenRegular, and follows links.
func FollowRegular(path string) (*os.File, error) { return openRegular(path, 0) }

// ErrTooLarge is what ReadRegular gives for a file of more bytes than it may read.
var ErrTooLarge = errors.New("it is too large")

// ReadRegular returns what a regular file holds, to which links may lead, of at most so many bytes. A pipe that stands
// there instead, as a command can put one there, it does not wait for.
func ReadRegular(path string, most int64) ([]byte, error) {
	f, err := FollowRegular(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(data)) > most {
		return nil, ErrTooLarge
	}
	return data, err
}

// GitDir is the directory that a .git file names, as worktrees and submodules have one in the place of a directory;
// false for any other text. Where it is not absolute, it is one of the directory of the file. See gitrepository-layout(5).
func GitDir(text []byte) (dir string, ok bool) {
	return strings.CutPrefix(strings.TrimSpace(string(text)), "gitdir: ")
}

// GitHead reports whether a text is that of a repository's HEAD as git wants it, which passes over any other (setup.c,
// validate_headref).
func GitHead(text []byte) bool {
	if to, ok := strings.CutPrefix(string(text), "ref:"); ok {
		return strings.HasPrefix(strings.TrimLeft(to, " \t\n\v\f\r"), "refs/")
	}
	id, _, _ := strings.Cut(string(text), "\n")
	_, err := hex.DecodeString(id)
	return err == nil && (len(id) == 40 || len(id) == 64)
}

func openRegular(path string, flag int) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|nonblock|flag, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = ErrUnsafe
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}
