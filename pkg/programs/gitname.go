package programs

import (
	"path/filepath"
	"strings"
)

// GitName is the subcommand of git that a name stands for by which git knows it itself, as git-push; "" for none.
func GitName(name string) (sub string) {
	sub, is := strings.CutPrefix(filepath.Base(name), "git-")
	if !is {
		return ""
	}
	return sub
}

// Undashed are the words of a git that is started by such a name, as it takes them; others as they are.
func Undashed(program string, argv []string) []string {
	if len(argv) == 0 || filepath.Base(program) != "git" || GitName(argv[0]) == "" {
		return argv
	}
	return append([]string{"git", GitName(argv[0])}, argv[1:]...)
}
