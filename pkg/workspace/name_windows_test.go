package workspace

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/windows"
)

// spelled makes a workspace with one file in it.
func spelled(t *testing.T) *Workspace {
	t.Helper()
	root := t.TempDir()
	if err := os.Mkdir(filepath.Join(root, "Confidential-Data"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "Confidential-Data", "Secret-Numbers.txt"), []byte("1\r\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	w, err := Open(root, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Close)
	return w
}

// TestOneNameForOneFile: rules are about the name that the directory has, so
// another case or the short name must lead to it.
func TestOneNameForOneFile(t *testing.T) {
	w := spelled(t)
	const want = "Confidential-Data/Secret-Numbers.txt"
	file := filepath.Join(w.Root(), want)
	names := []string{`confidential-data\SECRET-numbers.TXT`, "CONFIDENTIAL-DATA/secret-numbers.txt", strings.ToLower(file)}
	long, err := windows.UTF16PtrFromString(file)
	if err != nil {
		t.Fatal(err)
	}
	buf := make([]uint16, windows.MAX_PATH)
	n, err := windows.GetShortPathName(long, &buf[0], uint32(len(buf)))
	if short := windows.UTF16ToString(buf[:n]); err == nil && strings.Contains(filepath.Base(short), "~") {
		names = append(names, short, filepath.Join(filepath.Base(filepath.Dir(short)), filepath.Base(short)))
	} else {
		t.Log("the volume makes no short names")
	}
	for _, name := range names {
		p, err := w.Resolve(name)
		if err != nil || p.Rel != want || p.Real != file || p.Named != file || !p.Inside {
			t.Errorf("Resolve(%q) = %+v, %v", name, p, err)
		}
	}
	p, err := w.Resolve(`CONFIDENTIAL-DATA\New.txt`)
	if err != nil || p.Rel != "Confidential-Data/New.txt" || p.Exists {
		t.Errorf("a new file: %+v, %v", p, err)
	}
}

// TestNamesOfTheSystem: a name that opens something else than it says is
// refused, and no other machine is asked.
func TestNamesOfTheSystem(t *testing.T) {
	w := spelled(t)
	for name, why := range map[string]string{
		"NUL":                         "reserved",
		"aux.txt":                     "reserved",
		`Confidential-Data\COM1`:      "reserved",
		`Confidential-Data\..\CONIN$`: "reserved",
		"new.txt:stream":              "another stream",
		`Confidential-Data::$DATA\x`:  "another stream",
		"a:stream":                    "current directory of a drive",
		"new.txt.":                    "dots and blanks",
		"new.txt ":                    "dots and blanks",
		`Confidential-Data.\x`:        "dots and blanks",
		`\new.txt`:                    "current directory of a drive",
		"/new.txt":                    "current directory of a drive",
		`\\.\PhysicalDrive0`:          "device path",
		`\\?\C:\new.txt`:              "device path",
		`\??\C:\new.txt`:              "device path",
		`\\?\UNC\nowhere.invalid\s\x`: "device path",
		`\\nowhere.invalid\share\x`:   "another machine",
		"//nowhere.invalid/share/x":   "another machine",
	} {
		p, err := w.Resolve(name)
		if !errors.Is(err, ErrName) || !strings.Contains(err.Error(), why) || p.Inside {
			t.Errorf("Resolve(%q) = %+v, %v, want %q", name, p, err, why)
		}
		if _, err := w.ResolveIn(w.Root(), name); !errors.Is(err, ErrName) {
			t.Errorf("ResolveIn(%q): %v", name, err)
		}
	}
}

// TestSharesOfOurs: the machines of the root and of home are known.
func TestSharesOfOurs(t *testing.T) {
	ours := []string{`C:\proj`, `\\Server\home\me`, ""}
	for dir, refused := range map[string]bool{`C:\`: false, `\\server\other\`: false, "//SERVER/x/": false, `\\evil\x\`: true, "//evil/x/": true} {
		if why := badHost(dir, ours); (why != "") != refused {
			t.Errorf("badHost(%q) = %q", dir, why)
		}
	}
}

// TestReplaceWhatWasRead: a file that a write has looked at is closed when it
// is replaced, for not every file system replaces an open one.
func TestReplaceWhatWasRead(t *testing.T) {
	w := spelled(t)
	p, err := w.Resolve("confidential-data/secret-numbers.txt")
	if err != nil {
		t.Fatal(err)
	}
	out, err := w.WriteFile(context.Background(), p, []byte("2\r\n"), WriteOptions{})
	if err != nil || out.Created || out.InPlace {
		t.Fatalf("%+v, %v", out, err)
	}
	if got, err := os.ReadFile(p.Real); string(got) != "2\r\n" || err != nil {
		t.Errorf("it holds %q, %v", got, err)
	}
	list, err := os.ReadDir(filepath.Dir(p.Real))
	if err != nil || len(list) != 1 || list[0].Name() != "Secret-Numbers.txt" {
		t.Errorf("its directory holds %v, %v", list, err)
	}
}
