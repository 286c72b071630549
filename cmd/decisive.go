package cmd

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/tools/web"
)

// decisive are the files beside policies that a later call takes its settings from, and the programs
// that decide for it or that it runs.
func (a *app) decisive() (list []string) {
	if dir := a.configDir(); dir != "" {
		for _, name := range append(configNames(), trustName, web.KeysFile) {
			list = append(list, filepath.Join(dir, name))
		}
	}
	named := []string{a.RG, a.Programs, a.Answers}
	if program, ok := strings.CutPrefix(a.Ask, "cmd:"); ok {
		named = append(named, a.approverName(program))
	}
	return append(list, absolute(slices.DeleteFunc(named, func(name string) bool { return name == "" || name == "-" }))...)
}
