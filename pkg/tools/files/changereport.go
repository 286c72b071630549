package files

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/agentkit-go/agentkit/pkg/edit"
	"github.com/agentkit-go/agentkit/pkg/syntax"
	"github.com/agentkit-go/agentkit/pkg/text"
	"github.com/agentkit-go/agentkit/pkg/tool"
)

// A changeReport is what a changed file's metadata says, whichever tool
// changed it.
type changeReport struct {
	Path         string           `json:"path" doc:"relative to the root, or absolute outside it"`
	Created      bool             `json:"created" doc:"it was not there before"`
	Bytes        int64            `json:"bytes" doc:"of the new content"`
	Lines        int              `json:"lines" doc:"of the new content"`
	Added        int              `json:"added" doc:"lines"`
	Removed      int              `json:"removed" doc:"lines"`
	Diff         string           `json:"diff" doc:"what changed, cut where it is long"`
	Withheld     string           `json:"diff_withheld,omitempty" doc:"why there is no diff"`
	Version      string           `json:"version" doc:"the new content, for if_version"`
	Mode         string           `json:"mode,omitempty" doc:"permission bits in octal"`
	Was          string           `json:"was_encoding,omitempty" doc:"of the old content, such as utf-16le-bom, where the new is utf-8"`
	SyntaxErrors []syntax.Problem `json:"syntax_errors" doc:"that the change brings"`
	OtherErrors  []elsewhere      `json:"other_errors,omitempty" doc:"in files that use what this change removed"`
	Change       string           `json:"change,omitempty" doc:"what undo calls it; absent when nothing changed"`
	Diagnosed    *diagnosticsMeta `json:"diagnosed,omitempty" doc:"with diagnostics: what language servers say of the files, and of others that the change broke"`
	DryRun       bool             `json:"dry_run,omitempty" doc:"nothing was written"`
	InPlace      bool             `json:"in_place,omitempty" doc:"overwritten, because it has other names or cannot be replaced"`
	Lost         []string         `json:"lost,omitempty" doc:"what could not be kept, such as the owner"`
}

// Traces implements tool.Tracer.
func (r changeReport) Traces() tool.Traces { return tool.Traces{Change: r.Change, Diff: r.Diff} }

// An elsewhere is a mistake that a change brings to another file.
type elsewhere struct {
	Path string `json:"path"`
	syntax.Problem
}

// conceal takes out of the report what shows the content of a file that may not
// be read; why is "" for one that may.
func (r *changeReport) conceal(why string) {
	if why == "" {
		return
	}
	r.Diff, r.Withheld = "", why
	withoutText(r.SyntaxErrors)
}

// withoutText leaves of syntax errors where they are: their lines and their messages quote the file.
func withoutText(list []syntax.Problem) {
	for i := range list {
		list[i].Text, list[i].Message = "", "the file may not be read, so what is wrong there is not shown"
	}
}

// readable is a file's content in UTF-8, for people and parsers; bytes that
// are no text, and those of UTF-8 with its byte order mark, are left as they
// are.
func readable(data []byte) []byte {
	if utf8.Valid(data) && bytes.IndexByte(data, 0) < 0 {
		return data
	}
	enc := text.Detect(data, true)
	if strings.HasPrefix(enc.Name, "utf-8") {
		return data
	}
	if decoded, exact := enc.Decode(data); exact {
		return decoded
	}
	return data
}

// setEncoding notes that content in another encoding was replaced by UTF-8,
// which a difference does not show.
func (r *changeReport) setEncoding(before, after []byte) {
	if r.Withheld != "" || len(before) == 0 || len(after) == 0 {
		return
	}
	enc := text.Detect(before, true)
	ascii := !slices.ContainsFunc(after, func(c byte) bool { return c >= utf8.RuneSelf })
	if strings.HasPrefix(enc.Name, "utf-8") || enc.Name == "binary" || ascii && enc.ASCII() {
		return
	}
	r.Was = enc.Name
}

// gateError refuses changes that bring syntax errors, by path; nil when there
// are none.
func gateError(broken map[string][]syntax.Problem) error {
	var all []gateProblem
	for _, path := range slices.Sorted(maps.Keys(broken)) {
		for _, p := range broken[path] {
			all = append(all, gateProblem{path, p})
		}
	}
	if len(all) == 0 {
		return nil
	}
	e := tool.Errorf(tool.BadInput, "nothing was changed: the change would bring %s, the first in %s, line %d: %s",
		tool.Count(int64(len(all)), "syntax error"), all[0].Path, all[0].Line, all[0].Message).
		WithHint("correct the new text and repeat the call, or leave {.gate} out").
		With(gateDetails{all})
	for _, p := range all[:min(len(all), 3)] {
		_ = e.Suggest(fmt.Sprintf("%s:%d: %s", p.Path, p.Line, strings.TrimSpace(p.Text)))
	}
	return e
}

// setDiff fills in the difference, cut where it is long.
func (r *changeReport) setDiff(d edit.Difference) {
	r.Diff, r.Added, r.Removed = d.Text+moreDiff(d.Omitted), d.Added, d.Removed
}

// moreDiff says how much of a difference is left out.
func moreDiff(lines int) string {
	if lines == 0 {
		return ""
	}
	return fmt.Sprintf("… %d more lines of diff\n", lines)
}

// A diffRoom is how many bytes the differences that a result is still to show may take:
// what is shown is a beginning of them all.
type diffRoom int

// roomForDiff is what the differences of one call may take: no more than its output.
func roomForDiff(env *tool.Env) diffRoom {
	return diffRoom(min(maxDiff, env.Limits.Resolved().Bytes))
}

// take makes room for one difference less.
func (r *diffRoom) take(d edit.Difference) edit.Difference {
	if *r -= diffRoom(len(d.Text)); d.Omitted > 0 || *r < 0 {
		*r = 0
	}
	return d
}

func lineCount(data []byte) int {
	n := bytes.Count(data, []byte("\n"))
	if len(data) > 0 && data[len(data)-1] != '\n' {
		n++
	}
	return n
}

// headline says what was done to the file, or in a dry run what would be.
func (r *changeReport) headline(did, would string) string {
	if r.DryRun {
		did = "Would " + would
	}
	return did + " " + r.Path
}

// output is what the model is told about a change.
func (r *changeReport) output(headline string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s, +%d -%d\n", headline, tool.Count(int64(r.Lines), "line"), r.Added, r.Removed)
	if r.Withheld != "" {
		fmt.Fprintf(&b, "the difference is not shown: %s\n", r.Withheld)
	}
	if r.Was != "" {
		fmt.Fprintf(&b, "was %s, is utf-8 now\n", r.Was)
	}
	if len(r.Lost) > 0 {
		fmt.Fprintf(&b, "not kept: %s\n", strings.Join(r.Lost, ", "))
	}
	for _, p := range r.SyntaxErrors {
		fmt.Fprintf(&b, "syntax error in line %d: %s\n    %s\n", p.Line, p.Message, p.Text)
	}
	for i, p := range r.OtherErrors {
		if i == 20 {
			fmt.Fprintf(&b, "… and %d more\n", len(r.OtherErrors)-i)
			break
		}
		fmt.Fprintf(&b, "%s, line %d: %s\n    %s\n", p.Path, p.Line, p.Message, p.Text)
	}
	return b.String()
}

// pretty is output with the diff below it in colour.
func (r *changeReport) pretty(output string) func(func(tool.Style, string) string) string {
	return inColour(output, r.Diff)
}

func places(list []edit.Place) []editPlace {
	out := []editPlace{}
	for _, p := range list {
		out = append(out, editPlace{p.Lines, p.Text, p.Similarity, p.FirstDifference})
	}
	return out
}

// maxPlace is what an error shows of one place, in bytes.
const maxPlace = 2000

// placesText shows the nearest places as a model should see them.
func placesText(list []edit.Place) string {
	var b strings.Builder
	for _, p := range list[:min(len(list), 3)] {
		text := strings.TrimRight(p.Text, "\r\n")
		if text == "" {
			continue // there is nothing to see, as of text that is there already
		}
		if len(text) > maxPlace {
			text = strings.ToValidUTF8(text[:maxPlace], "") + " …"
		}
		fmt.Fprintf(&b, "lines %d-%d of the file:\n%s\n", p.Lines[0], p.Lines[1], text)
		if p.FirstDifference != "" {
			b.WriteString(p.FirstDifference + "\n")
		}
	}
	return b.String()
}

// maxDiff is the size in bytes of the diff of all files of a call beyond which only its
// beginning is returned: 32 KiB.
const maxDiff = 32 << 10

// A foresight is metadata that tells what becomes of files.
type foresight interface {
	foreseen() (files []foreseenFile, diff string)
}

type foreseenFile struct {
	Path   string `json:"path"`
	Action string `json:"action"` // add, update, delete or move
	From   string `json:"from,omitempty"`
}

func (r changeReport) foreseen() ([]foreseenFile, string) {
	return []foreseenFile{{Path: r.Path, Action: r.action()}}, r.Diff
}

// action says in a word what happens to the file, as patch does.
func (r *changeReport) action() string {
	if r.Created {
		return "add"
	}
	return "update"
}
