package committed

import (
	"os"
	"path/filepath"
	"strings"
)

// Secret reports whether what is at a path was given to Secrets once, under whatever
// name.
func (f *Files) Secret(path string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	id := lasting(path)
	return id != "" && f.loadSecrets()[id]
}

// Secrets notes files and directories that hold secrets, so that they are known again
// where their names say nothing.
func (f *Files) Secrets(paths []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var news []string
	for _, path := range paths {
		if id := lasting(path); id != "" && !f.loadSecrets()[id] {
			f.secrets[id] = true
			news = append(news, id)
		}
	}
	if f.State == "" || len(news) == 0 || len(f.secrets) > maxRefused || os.MkdirAll(f.State, 0o700) != nil {
		return
	}
	file, err := os.OpenFile(filepath.Join(f.State, "secrets"), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err == nil {
		_, _ = file.WriteString(strings.Join(news, "\n") + "\n") // else they are noted again
		_ = file.Close()
	}
}

func (f *Files) loadSecrets() map[string]bool {
	if f.secrets == nil {
		f.secrets = map[string]bool{}
		if f.State != "" {
			data, _ := os.ReadFile(filepath.Join(f.State, "secrets"))
			for id := range strings.FieldsSeq(string(data)) {
				f.secrets[id] = true
			}
		}
	}
	return f.secrets
}
