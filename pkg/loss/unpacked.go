package loss

import (
	"archive/tar"
	"archive/zip"
	"bufio"
	"compress/bzip2"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/safefile"
)

// Bounds of what is looked at of an archive before it is unpacked.
const (
	maxPacked        = 20_000    // names
	maxUnpackedBytes = 128 << 20 // of a compressed tar, once it is no longer compressed
)

// unpacked are the files in the places of which tar and unzip put others, and, where there are any, what
// else they make. Of archives in other formats than tar, tar.gz, tar.bz2 and zip nothing is known.
func unpacked(root string, needs []policy.Access) (names []string) {
	for i := range needs {
		a := &needs[i]
		if a.Kind != policy.Exec || len(a.Argv) == 0 || !slices.Contains([]string{"tar", "gtar", "bsdtar", "unzip"}, filepath.Base(a.Argv[0])) || slices.Contains(a.Dynamic, true) {
			continue
		}
		archive, into := "", ""
		for j := range needs {
			switch w := &needs[j]; {
			case w.Parent != i+1:
			case w.Kind == policy.Read && w.File == policy.Regular && w.Opaque == "" && archive == "":
				archive = w.Path
			case w.Kind == policy.Write && w.File == policy.Dir && safefile.Below(root, w.Path):
				into = w.Path
			}
		}
		place, ok := unpacksTo(a.Argv)
		if archive == "" || into == "" || !ok {
			continue
		}
		var there []string
		over := false
		for _, name := range packedNames(archive) {
			if name = place(name); name == "" {
				continue
			}
			at := filepath.Join(into, filepath.FromSlash(name))
			info, err := os.Lstat(at)
			switch {
			case err == nil && info.IsDir(), safefile.InGit(at):
				continue
			case err == nil:
				over = true
			}
			there = append(there, at)
		}
		if over {
			names = append(names, there...)
		}
	}
	return names
}

// unpacksTo says where tar or unzip with these words puts what has a name in its archive, below the directory
// that it works in; false where they change names in a way that is not read here.
func unpacksTo(argv []string) (place func(name string) string, ok bool) {
	strip, flat := 0, false
	for i, word := range argv {
		option, value, joined := strings.Cut(word, "=")
		switch {
		case i == 0 || !strings.HasPrefix(word, "-"):
		case strings.HasPrefix(option, "--strip"):
			if !joined && i+1 < len(argv) {
				value = argv[i+1]
			}
			n, err := strconv.Atoi(value)
			if err != nil {
				return nil, false
			}
			strip = n
		case strings.HasPrefix(option, "--transform"), strings.HasPrefix(option, "--xform"), strings.HasPrefix(option, "--one-top-level"), option == "-s":
			return nil, false
		case filepath.Base(argv[0]) == "unzip" && !strings.HasPrefix(word, "--") && strings.Contains(word, "j"):
			flat = true
		}
	}
	return func(name string) string {
		parts := slices.DeleteFunc(strings.Split(path.Clean("/"+name), "/"), func(part string) bool { return part == "" })
		if flat && len(parts) > 0 {
			parts = parts[len(parts)-1:]
		}
		if len(parts) <= strip || strings.HasSuffix(name, "/") && flat {
			return ""
		}
		return path.Join(parts[strip:]...)
	}, true
}

// packedNames lists what an archive holds but directories, as far as it can be read and the bounds allow.
func packedNames(archive string) (names []string) {
	f, err := safefile.FollowRegular(archive)
	if err != nil {
		return nil
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil
	}
	r := bufio.NewReader(f)
	magic, _ := r.Peek(4)
	var text io.Reader = r
	switch m := string(magic); {
	case strings.HasPrefix(m, "PK"):
		z, err := zip.NewReader(f, info.Size())
		if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
			return nil
		}
		for _, file := range z.File[:min(len(z.File), maxPacked)] {
			if !strings.HasSuffix(file.Name, "/") {
				names = append(names, file.Name)
			}
		}
		return names
	case strings.HasPrefix(m, "\x1f\x8b"):
		if text, err = gzip.NewReader(r); err != nil {
			return nil
		}
	case strings.HasPrefix(m, "BZh"):
		text = bzip2.NewReader(r)
	}
	t := tar.NewReader(io.LimitReader(text, maxUnpackedBytes))
	if text == io.Reader(r) {
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			return nil
		}
		t = tar.NewReader(f) // which passes over what files hold without reading it
	}
	for len(names) < maxPacked {
		header, err := t.Next()
		if err != nil && !errors.Is(err, tar.ErrInsecurePath) {
			return names
		}
		if header.Typeflag != tar.TypeDir {
			names = append(names, header.Name)
		}
	}
	return names
}
