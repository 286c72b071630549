package wall

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/safefile"
)

// outside finds what a command may read outside the root.
func (w *Wall) outside() {
	dirs, home, all := w.o.Policy.Outside()
	if w.Everything = all; all {
		return
	}
	for _, dir := range dirs {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			w.Readable = append(w.Readable, real)
		}
	}
	if home != "" && home != "/" {
		entries, err := os.ReadDir(home)
		if err != nil && !os.IsNotExist(err) {
			w.Beyond = append(w.Beyond, home+": "+err.Error())
		}
		for _, e := range entries {
			if strings.HasPrefix(e.Name(), ".") {
				w.dotEntry(filepath.Join(home, e.Name()))
			}
		}
	}
	w.Readable = outermost(w.Readable)
	for _, path := range w.o.Policy.Writable() {
		if _, err := os.Stat(path); err == nil && !safefile.Below(path, w.o.Root) {
			w.Writable = append(w.Writable, path)
		}
	}
}

// dotEntry opens one of the home's dot entries, and what it leads to.
func (w *Wall) dotEntry(path string) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return
	}
	i, err := os.Stat(real)
	if err != nil {
		return
	}
	a := policy.Access{Kind: policy.Read, Tool: "bash", Path: real, Named: path, File: fileType(i)}
	if w.o.Policy.Decide(&a).Verdict == policy.Allow && !safefile.Below(real, w.o.Root) && !slices.Contains(w.Readable, real) {
		w.Readable = append(w.Readable, real)
	}
}
