package steps

import (
	"path/filepath"
	"slices"

	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/programs"
)

// ShowsNothing reports whether no program of a call shows what a file holds.
func ShowsNothing(needs []policy.Access) bool {
	return !slices.ContainsFunc(needs, func(a policy.Access) bool {
		switch {
		case a.Opaque != "", ShellReads(needs, &a):
			return true
		case a.Kind == policy.Exec:
			return !a.Builtin && !IsMover(&a) && !(programs.Has("chmod chown chgrp", Name(&a)) && OfSystem(&a))
		}
		return false
	})
}

// OnlyMoves reports whether a call does nothing but move and remove files: no program
// of it could read what lies open meanwhile.
func OnlyMoves(needs []policy.Access) bool {
	moves := false
	for i := range needs {
		a := &needs[i]
		switch {
		case a.Opaque != "":
			return false
		case a.Kind == policy.Exec && a.Builtin:
		case ShellReads(needs, a):
			return false
		case a.Kind == policy.Exec:
			if !IsMover(a) {
				return false
			}
			moves = true
		}
	}
	return moves
}

// ShellReads reports whether a is what the shell itself reads, as in read x <file: it may be
// another file by then.
func ShellReads(needs []policy.Access, a *policy.Access) bool {
	if a.Kind != policy.Read || a.Path == "" || a.Guess || a.File == policy.Dir && !a.Tree {
		return false
	}
	by := a.Parent - 1
	return by < 0 || by >= len(needs) || needs[by].Builtin && !programs.Has("test [ cd", Name(&needs[by]))
}

// IsMover reports whether a program is one of the system's that shows no file's content.
func IsMover(a *policy.Access) bool {
	name, file := Name(a), filepath.Base(a.Program)
	return OfSystem(a) &&
		programs.Has("rm rmdir unlink mv mkdir touch ls true false test [ echo printf", name) &&
		(file == name || programs.Has("busybox toybox coreutils gnumv gnurm", file))
}

// OfSystem reports whether a program lies where the system's do.
func OfSystem(a *policy.Access) bool {
	return slices.Contains(policy.TrustedDirs(), filepath.Dir(a.Program))
}
