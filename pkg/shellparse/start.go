package shellparse

import (
	"path"

	"github.com/agentkit-go/agentkit/pkg/programs"

	"github.com/agentkit-go/agentkit/pkg/policy"
)

// Started gives the accesses of a program start as the kernel sees it: program
// is the absolute path of the file that runs, argv its final words. The
// program's own exec access stands first. Where argv[0] is another name than
// the file's, as with busybox or a link, both readings count.
//
// The world's Dir is the directory of the process; its Resolve finds the files
// that the words name, and may be nil where nobody asks about files.
func Started(program string, argv []string, world *World) []policy.Access {
	if len(argv) == 0 {
		argv = []string{program}
	}
	out := startedAs(program, append([]string{program}, argv[1:]...), world)
	name := path.Base(argv[0])
	if name == path.Base(program) {
		return out
	}
	first := &out[0]
	if described(name) {
		other := startedAs(program, append([]string{name}, argv[1:]...), world)
		first.Danger, first.Opaque = cmpOr(first.Danger, other[0].Danger), cmpOr(first.Opaque, other[0].Opaque)
		first.Options = append(first.Options, other[0].Options...)
		first.Class = other[0].Class
		shift := len(out) - 1
		for _, a := range other[1:] {
			if a.Parent > 1 {
				a.Parent += shift
			}
			out = append(out, a)
		}
		first = &out[0]
	}
	first.Argv = append([]string{argv[0]}, first.Argv[1:]...) // rules see the file's name in Program
	return out
}

// startedAs analyses one reading of the words.
func startedAs(program string, argv []string, world *World) []policy.Access {
	w := *world
	w.LookPath = func(name string) (string, bool) {
		if name == argv[0] || name == program {
			return program, true
		}
		if world.LookPath == nil {
			return "", false
		}
		return world.LookPath(name)
	}
	list := Argv(argv, &w).Accesses
	if len(list) > 0 && list[0].Kind == policy.Exec && len(list[0].Dynamic) == 0 {
		list[0].Program = program
		return list
	}
	for i := range list {
		list[i].Parent++
	}
	return append([]policy.Access{{Kind: policy.Exec, Tool: "bash", Argv: argv, Program: program, Opaque: "the words are not understood"}}, list...)
}

func described(name string) bool {
	r, _ := programs.Lookup(name)
	return r != nil && r.Described()
}
