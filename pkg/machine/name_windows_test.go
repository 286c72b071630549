package machine

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/windows"
)

// TestProgramsByOneName: what a rule is about is the long name of the program
// that Windows would start.
func TestProgramsByOneName(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"significant-name.exe", "both.exe", "both.com", "bare"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("MZ"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{
		"both": "both.com", "both.exe": "both.exe", "bare": "", "significant-name": "significant-name.exe", `.\both.exe`: "both.exe",
		`\\nowhere.invalid\share\both.exe`: "", shortName(t, filepath.Join(dir, "significant-name.exe")): "significant-name.exe",
	} {
		got, ok := LookPath(name, dir, dir)
		if ok != (want != "") || ok && got != filepath.Join(dir, want) {
			t.Errorf("%s: %s %v, want %s", name, got, ok, want)
		}
	}
	if got, ok := LookPath("both", shortName(t, dir), dir); !ok || got != filepath.Join(dir, "both.com") {
		t.Errorf("by a short entry of PATH: %s %v", got, ok)
	}
	for name, want := range map[string]bool{`C:\x.exe`: false, `.\x.exe`: false, `\\host\share\x.exe`: true, "//host/share/x.exe": true, `\\.\pipe\x`: true} {
		if remote(name) != want {
			t.Errorf("remote(%q) is %v", name, !want)
		}
	}
}

// shortName is the short name of a file; its long one where it has none.
func shortName(t *testing.T, file string) string {
	t.Helper()
	long, err := windows.UTF16PtrFromString(file)
	if err != nil {
		t.Fatal(err)
	}
	buf := make([]uint16, windows.MAX_PATH)
	if n, err := windows.GetShortPathName(long, &buf[0], uint32(len(buf))); err == nil {
		return windows.UTF16ToString(buf[:n])
	}
	return file
}
