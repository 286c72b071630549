package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
)

// A listed is one package as the go command lists it.
type listed struct {
	ImportPath, Dir, Export string
	GoFiles                 []string
	ImportMap               map[string]string
	DepOnly                 bool
}

// builds says which mutations do not build, by their types alone: that takes a tenth of what
// compiling takes, so all are looked at, also those that there is no time to run.
func builds(all []mutation) error {
	cmd := exec.Command("go", "list", "-export", "-deps", "-json=ImportPath,Dir,Export,GoFiles,ImportMap,DepOnly", "./...")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("go list: %w", err)
	}
	exports, pkgs := map[string]string{}, map[string]*listed{}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		p := &listed{}
		if err := d.Decode(p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return fmt.Errorf("go list: %w", err)
		}
		if exports[p.ImportPath] = p.Export; !p.DepOnly {
			pkgs[p.Dir] = p
		}
	}
	byDir := map[string][]mutation{}
	for _, m := range all {
		abs, err := filepath.Abs(filepath.Dir(m.file))
		if err != nil {
			return err
		}
		if p := pkgs[abs]; p != nil && slices.Contains(p.GoFiles, filepath.Base(m.file)) { // else it is one of another system, or no Go
			byDir[abs] = append(byDir[abs], m)
		}
	}
	dirs := make(chan string)
	faults := make(chan error)
	workers := runtime.GOMAXPROCS(0)
	for range workers {
		go func() {
			var errs []error
			c := &checker{fset: token.NewFileSet(), exports: exports}
			c.importer = importer.ForCompiler(c.fset, "gc", c.open)
			for dir := range dirs {
				errs = append(errs, c.check(pkgs[dir], byDir[dir]))
			}
			faults <- errors.Join(errs...)
		}()
	}
	for dir := range byDir {
		dirs <- dir
	}
	close(dirs)
	for range workers {
		err = errors.Join(err, <-faults)
	}
	return err
}

// A checker looks at types; it is for one goroutine.
type checker struct {
	fset     *token.FileSet
	importer types.Importer
	exports  map[string]string
	renamed  map[string]string // imports of the package that is looked at
}

// Import implements types.Importer.
func (c *checker) Import(path string) (*types.Package, error) {
	if to, ok := c.renamed[path]; ok {
		path = to
	}
	return c.importer.Import(path)
}

// open opens what a package exports.
func (c *checker) open(path string) (io.ReadCloser, error) { return os.Open(c.exports[path]) }

// check says which mutations of a package do not build.
func (c *checker) check(p *listed, broken []mutation) error {
	c.renamed = p.ImportMap
	files := make([]*ast.File, len(p.GoFiles))
	for i, name := range p.GoFiles {
		f, err := parser.ParseFile(c.fset, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		files[i] = f
	}
	var errs []error
	for _, m := range broken {
		text, err := os.ReadFile(m.file)
		if err != nil {
			return err
		}
		changed := bytes.Replace(text, []byte(m.old), []byte(m.now+m.padding()), 1)
		f, err := parser.ParseFile(c.fset, m.file, changed, parser.SkipObjectResolution)
		if err == nil {
			with := slices.Clone(files)
			with[slices.Index(p.GoFiles, filepath.Base(m.file))] = f
			conf := types.Config{Importer: c, Sizes: types.SizesFor("gc", runtime.GOARCH)}
			_, err = conf.Check(p.ImportPath, c.fset, with, nil)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%s:%d: %s: does not build: %w", list, m.line, m.why, err))
		}
	}
	return errors.Join(errs...)
}
