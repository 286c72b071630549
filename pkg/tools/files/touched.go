package files

import (
	"fmt"

	"github.com/agentkit-go/agentkit/pkg/tool"
)

// A touchedFile is what became of a file.
type touchedFile struct {
	Path   string `json:"path"`
	Action string `json:"action" doc:"create, replace, delete, move, mode, mkdir or rmdir; touch where only the time differs"`
	Names  int64  `json:"names,omitempty" doc:"of a directory that comes or goes with all in it: how many names that are"`
}

// line is the file in a line of text.
func (f touchedFile) line() string {
	line := f.Action + " " + tool.VisibleName(f.Path)
	if f.Names > 0 {
		line += fmt.Sprintf(" with the %s in it", tool.Count(f.Names, "name"))
	}
	return line
}
