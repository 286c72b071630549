package sandbox

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/safefile"
)

// maxExplained bounds how much of an output's end is looked at, and how many
// denials are made of it.
const (
	maxExplained = 64 << 10
	maxGuesses   = 20
	maxMessage   = 1000 // a longer line is data
)

// Explain reads the messages of programs that met the sandbox out of what a
// command printed: files that it may not write or read, and hosts that it
// cannot reach. They are guesses, but only at paths and hosts that c does not
// allow. Dir is where the command ran, for relative paths.
func (c *Config) Explain(output, dir string) []Denial {
	if len(output) > maxExplained {
		output = output[len(output)-maxExplained:]
	}
	var list []Denial
	var above string // the last line before "Caused by:", where Rust names the file
	var cause, npm bool
	for line := range strings.Lines(output) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		d, ok := c.explainLine(line, dir)
		if rest, found := strings.CutPrefix(line, "npm error "); found {
			// npm prints the code, the system call and the path on lines of their own.
			code, isCode := strings.CutPrefix(rest, "code ")
			npm = npm && !isCode || isCode && slices.Contains([]string{"EACCES", "EPERM", "EROFS"}, code)
			if path, ok2 := strings.CutPrefix(rest, "path "); ok2 && npm {
				d, ok = c.explainLine("'"+path+"': permission denied", dir)
			}
		}
		if !ok && cause {
			d, ok = c.explainLine(above+": "+line, dir)
		}
		if cause = line == "Caused by:"; !cause {
			above = line
		}
		if !ok || slices.ContainsFunc(list, func(o Denial) bool { return o.Kind == d.Kind && o.Path == d.Path }) {
			continue
		}
		if list = append(list, d); len(list) == maxGuesses {
			break
		}
	}
	return list
}

// fileMessages are what the kernel's refusals read like in C, Go, Python,
// Node, Rust and Java programs, in lower case.
func fileMessages() []string {
	return []string{
		"read-only file system", "permission denied", "operation not permitted", "device or resource busy", "invalid cross-device link",
		"erofs:", "eacces:", "eperm:", "access is denied", "accessdeniedexception",
		"enoent: no such file or directory, mkdir", // Node's words when it cannot make a directory and those above it
	}
}

// hostMessages are followed by a host's name.
func hostMessages() []string {
	return []string{
		"could not resolve host: ", "could not resolve hostname ", "could not resolve proxy: ", "unable to resolve host address ‘", "unable to resolve host address '",
		"eai_again ", "enotfound ", "failed to lookup address information: ", "unknownhostexception: ", "dial tcp: lookup ", "couldn't resolve host name for ",
		"failed to establish a new connection to ", "could not translate host name \"", "couldn't resolve host '",
	}
}

// limitMessages are what the kernel's refusals for one of Config.Limits read like, and
// the key of the policy that sets it.
func limitMessages() [][2]string {
	const processes, file, memory = "processes", "file_bytes", "memory_bytes"
	return [][2]string{
		{"fork: retry: resource temporarily unavailable", processes},
		{"cannot fork", processes},
		{"can't fork", processes},
		{"fork: resource temporarily unavailable", processes},
		{"blockingioerror: [errno 11]", processes},
		{"can't start new thread", processes},
		{"failed to create new os thread", processes},
		{"fork/exec", processes},
		{"eagain", processes},
		{"file too large", file},
		{"file size limit exceeded", file},
		{"efbig", file},
		{"cannot allocate memory", memory},
		{"out of memory", memory},
		{"memoryerror", memory},
	}
}

// explainLimit tells which limit a message is about.
func (c *Config) explainLimit(low string) (Denial, bool) {
	most := map[string]int64{"processes": int64(c.Limits.Processes), "file_bytes": c.Limits.File, "memory_bytes": c.Limits.Memory}
	for _, m := range limitMessages() {
		n := most[m[1]]
		if n <= 0 || !strings.Contains(low, m[0]) || m[0] == "fork/exec" && !strings.Contains(low, "resource temporarily unavailable") {
			continue
		}
		return Denial{
			Kind: DeniedLimit, Path: m[1], Why: "a confined command may have " + map[string]string{
				"processes": fmt.Sprintf("%d processes and threads", n), "file_bytes": fmt.Sprintf("files of %d bytes", n), "memory_bytes": fmt.Sprintf("%d bytes of memory in a process", n),
			}[m[1]], Allow: fmt.Sprintf("limits: {%s: %d}", m[1], 2*n),
		}, true
	}
	return Denial{}, false
}

func (c *Config) explainLine(line, dir string) (Denial, bool) {
	if len(line) > maxMessage {
		return Denial{}, false
	}
	low := strings.ToLower(line)
	if d, ok := c.explainLimit(low); ok {
		return d, true
	}
	if c.network() != Open && len(low) == len(line) {
		for _, m := range hostMessages() {
			if i := strings.Index(low, m); i >= 0 {
				return c.explainHost(line[i+len(m):])
			}
		}
	}
	for _, m := range fileMessages() {
		if i := strings.Index(low, m); i >= 0 && len(low) == len(line) {
			return c.explainFile(line, i, dir)
		}
	}
	return Denial{}, false
}

func (c *Config) explainHost(rest string) (Denial, bool) {
	host, _, _ := strings.Cut(rest, " ")
	host = strings.Trim(host, "'\"`’,.;()")
	if h, _, ok := strings.Cut(host, ":"); ok {
		host = h
	}
	name, err := hostName(host)
	if err != nil || name == "localhost" {
		return Denial{}, false
	}
	return Denial{Kind: DeniedHost, Path: name, Why: "the network is closed to commands", Allow: netRule(name, "")}, true
}

// explainFile looks for the path that a message is about: quoted, or before
// the colon that the reason follows.
func (c *Config) explainFile(line string, reason int, dir string) (Denial, bool) {
	paths := pathsIn(line, reason)
	for _, path := range paths {
		if !filepath.IsAbs(path) {
			if dir == "" {
				continue
			}
			path = filepath.Join(dir, path)
		}
		path = filepath.Clean(path)
		busy := strings.Contains(line[reason:], "resource busy") || strings.Contains(line[reason:], "cross-device")
		switch {
		case belowAny(path, c.ReadOnly) && (busy || tellsOfWriting(line) || !belowAny(path, c.Hidden)): // who may not read it was told the same
			return Denial{Kind: DeniedWrite, Path: path, Why: "it is protected: it decides what other programs run"}, true
		case busy && slices.ContainsFunc(c.Pinned, func(p string) bool { return safefile.Below(path, p) && belowAny(p, c.writable()) }):
			return Denial{Kind: DeniedWrite, Path: path, Why: "it is or holds what is hidden or protected, or did when the command began, and stays in its place; what is hidden can be moved or removed with mv or rm, by a call that does nothing else"}, true
		case busy && slices.Contains(c.Named, path):
			return Denial{Kind: DeniedWrite, Path: path, Why: "what is protected in it is so for its name, which it keeps; a call that says mv asks whether it may go"}, true
		case strings.Contains(line[reason:], "cross-device") && c.parted(path, paths):
			return Denial{Kind: DeniedWrite, Path: path, Why: "the command has parts of the root as mounts of their own, and nothing is renamed from one to another; mv works, for it copies"}, true
		case belowAny(path, c.Hidden):
			return Denial{Kind: DeniedRead, Path: path, Why: "it holds secrets, or is agentkit's own, and is hidden from commands"}, true
		case c.Level == L2 && belowAny(path, c.writable()) && slices.ContainsFunc(c.kept(), func(k string) bool { return safefile.Below(parent(path), k) }):
			return Denial{
				Kind: DeniedWrite, Path: path,
				Why: "where nothing can be mounted, nothing new can be made right in a directory that holds agentkit's state; --state keeps that elsewhere",
			}, true
		case c.Readable != nil && !tellsOfWriting(line) && !belowAny(path, slices.Concat(c.writable(), c.Readable, []string{c.Root, "/dev", "/proc", "/sys"})):
			return Denial{Kind: DeniedRead, Path: path, Why: "it lies outside what commands may read", Allow: "read(" + path + ")"}, true
		case !belowAny(path, c.writable()) && !belowAny(path, []string{"/dev", "/proc", "/sys"}):
			return Denial{Kind: DeniedWrite, Path: path, Why: "it lies outside what commands may write", Allow: "edit(" + path + ")"}, true
		}
	}
	return Denial{}, false
}

// parted reports whether a rename may have failed because parts of the root are mounts of
// their own, as where the rest is only read. A message may name only one of the two places.
func (c *Config) parted(path string, told []string) bool {
	return c.Sealed && safefile.Below(c.Root, path) && !slices.ContainsFunc(told, func(p string) bool { return filepath.IsAbs(p) && !safefile.Below(c.Root, p) })
}

// tellsOfWriting reports whether a message is that of a program that was to change a file.
func tellsOfWriting(line string) bool {
	low := strings.ToLower(line)
	return slices.ContainsFunc([]string{"creat", "mkdir", "touch", "remov", "unlink", "writ", "renam", "mov", "regular file", "read-only"}, func(word string) bool { return strings.Contains(low, word) })
}

// pathsIn lists what may be a path in a message whose reason begins at reason.
func pathsIn(line string, reason int) []string {
	var list []string
	for _, q := range [][2]string{{"'", "'"}, {`"`, `"`}, {"`", "'"}, {"‘", "’"}, {"“", "”"}} {
		rest := line
		for {
			_, after, ok := strings.Cut(rest, q[0])
			if !ok {
				break
			}
			inside, more, ok := strings.Cut(after, q[1])
			if !ok {
				break
			}
			if inside != "" && !strings.ContainsAny(inside, "\n\t") {
				list = append(list, inside)
			}
			rest = more
		}
	}
	// The path stands before the reason, or before what was tried, as in "tar: ./x: Cannot open: Permission denied".
	parts := strings.Split(strings.TrimRight(line[:reason], " :"), ": ")
	for i, part := range slices.Backward(parts) {
		fields := strings.Fields(part)
		if len(fields) == 0 || i < len(parts)-1 && (i == 0 || !strings.ContainsAny(fields[len(fields)-1], "/.")) { // a program, or a word of the message
			continue
		}
		list = append(list, fields[len(fields)-1])
	}
	for w := range strings.FieldsSeq(line) {
		// What begins a line and is not followed by the reason is the program that speaks,
		// as in "/usr/bin/bash: line 1: ./x: Permission denied".
		speaks := strings.HasSuffix(w, ":") && strings.HasPrefix(line, w) && len(w)+1 < reason
		if strings.HasPrefix(w, "/") && !speaks {
			list = append(list, strings.TrimRight(w, ":,.;)"))
		}
	}
	return list
}
