// Package rg lists and searches files: which paths match a glob, which lines
// match a pattern, exactly, completely and within bounds.
//
// Search has two engines with one contract. The package's own walks the tree
// and runs patterns in time linear in the text; it is used wherever it gives
// what ripgrep would. Patterns that need backtracking go to ripgrep when the
// caller has found one. The rules that both keep:
//
//   - Patterns are regular expressions as ripgrep documents them, with Unicode
//     classes; ^ and $ are those of a line, a carriage return is text.
//   - Ignore files, hidden files and links are treated as ripgrep does, but for
//     what stands below. Include and Exclude only ever leave files out; Globs
//     are ripgrep's -g.
//   - A file with a zero byte is binary: it is named as skipped, and nothing of
//     it is reported. Text in UTF-16 is known by its byte order mark, and
//     decoded before it is searched. Other text is searched as the bytes it is;
//     lines that are not UTF-8 are shown as the encoding they seem to be in.
//   - What could not be searched is named with its reason; it never fails the
//     search. Totals are true even where the matches shown are cut.
//   - Results come in a stated order, and a cursor goes on where they end.
//
// Where ripgrep and git read a rule differently, the package's own engine does
// what git does: braces are no alternatives, a set such as [!a] matches no
// slash, and the user's own rules begin at the top of a repository, not in the
// working directory. A byte that is not UTF-8 counts, beside a whole word, as
// what it is in windows-1252, where ripgrep finds no word beside one. It further takes a hidden name for hidden when it ends in
// a dot, asks for a file's type also where a glob names it, lists .git only on
// request, and where it follows links it enters no directory a second time on
// one path.
//
// Nothing here reads the environment or the working directory: every path is
// absolute or below a root that the caller gives.
package rg
