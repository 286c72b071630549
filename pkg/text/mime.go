package text

import (
	"bytes"
	"path"
	"slices"
	"strings"
)

// textTypes maps extensions of text files to media types, sorted.
var textTypes = [...][2]string{
	{".bash", "text/x-shellscript"},
	{".bat", "text/x-bat"},
	{".c", "text/x-c"},
	{".cc", "text/x-c++"},
	{".clj", "text/x-clojure"},
	{".cpp", "text/x-c++"},
	{".cs", "text/x-csharp"},
	{".css", "text/css"},
	{".csv", "text/csv"},
	{".cxx", "text/x-c++"},
	{".dart", "text/x-dart"},
	{".diff", "text/x-diff"},
	{".ex", "text/x-elixir"},
	{".exs", "text/x-elixir"},
	{".go", "text/x-go"},
	{".h", "text/x-c"},
	{".hpp", "text/x-c++"},
	{".hs", "text/x-haskell"},
	{".htm", "text/html"},
	{".html", "text/html"},
	{".ini", "text/x-ini"},
	{".ipynb", "application/x-ipynb+json"},
	{".java", "text/x-java"},
	{".js", "text/javascript"},
	{".json", "application/json"},
	{".jsonl", "application/jsonl"},
	{".jsx", "text/javascript"},
	{".kt", "text/x-kotlin"},
	{".less", "text/x-less"},
	{".lua", "text/x-lua"},
	{".md", "text/markdown"},
	{".mjs", "text/javascript"},
	{".ndjson", "application/jsonl"},
	{".patch", "text/x-diff"},
	{".php", "text/x-php"},
	{".pl", "text/x-perl"},
	{".proto", "text/x-protobuf"},
	{".ps1", "text/x-powershell"},
	{".py", "text/x-python"},
	{".r", "text/x-r"},
	{".rb", "text/x-ruby"},
	{".rs", "text/x-rust"},
	{".rst", "text/x-rst"},
	{".scala", "text/x-scala"},
	{".scss", "text/x-scss"},
	{".sh", "text/x-shellscript"},
	{".sql", "application/sql"},
	{".svg", "image/svg+xml"},
	{".swift", "text/x-swift"},
	{".tex", "text/x-tex"},
	{".toml", "application/toml"},
	{".ts", "text/x-typescript"},
	{".tsv", "text/tab-separated-values"},
	{".tsx", "text/x-typescript"},
	{".vue", "text/x-vue"},
	{".xml", "application/xml"},
	{".yaml", "application/yaml"},
	{".yml", "application/yaml"},
	{".zig", "text/x-zig"},
	{".zsh", "text/x-shellscript"},
}

// zipTypes maps extensions of formats that are zip archives, sorted.
var zipTypes = [...][2]string{
	{".docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"},
	{".epub", "application/epub+zip"},
	{".jar", "application/java-archive"},
	{".odp", "application/vnd.oasis.opendocument.presentation"},
	{".ods", "application/vnd.oasis.opendocument.spreadsheet"},
	{".odt", "application/vnd.oasis.opendocument.text"},
	{".pptx", "application/vnd.openxmlformats-officedocument.presentationml.presentation"},
	{".xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"},
}

// interpreters maps what follows "#!" to media types.
var interpreters = [...][2]string{
	{"python", "text/x-python"},
	{"node", "text/javascript"},
	{"perl", "text/x-perl"},
	{"ruby", "text/x-ruby"},
	{"php", "text/x-php"},
	{"lua", "text/x-lua"},
	{"sh", "text/x-shellscript"},
}

// byExtension looks an extension up in a sorted table.
func byExtension(table [][2]string, ext string) string {
	if i, ok := slices.BinarySearchFunc(table, ext, func(row [2]string, ext string) int { return strings.Compare(row[0], ext) }); ok {
		return table[i][1]
	}
	return ""
}

// MIME returns the media type of a file from its first bytes and, where those are
// text or an archive that several formats share, from its name. Text that tells no
// more is "text/plain", other bytes "application/octet-stream". A text named like
// an image is text.
func MIME(name string, sample []byte) string {
	ext := strings.ToLower(path.Ext(strings.ReplaceAll(name, `\`, "/")))
	if m := findMagic(sample); m != nil {
		if m.mime == "application/zip" {
			if t := byExtension(zipTypes[:], ext); t != "" {
				return t
			}
		}
		return m.mime
	}
	e := Detect(sample, false)
	if e.Name == binaryName {
		return "application/octet-stream"
	}
	content := sample[:min(len(sample), 4<<10)]
	if !e.ASCII() {
		content, _ = e.Decode(content)
	}
	content = bytes.TrimLeft(bytes.TrimPrefix(content, []byte("\ufeff")), " \t\r\n")
	if t := byExtension(textTypes[:], ext); t != "" {
		return t
	}
	return sniffText(content)
}

// sniffText guesses a media type from the start of a text whose name says nothing.
func sniffText(b []byte) string {
	if line, ok := bytes.CutPrefix(b, []byte("#!")); ok {
		line, _, _ = bytes.Cut(line, []byte("\n"))
		for _, i := range interpreters {
			if bytes.Contains(line, []byte(i[0])) {
				return i[1]
			}
		}
	}
	low := bytes.ToLower(b[:min(len(b), 1<<10)])
	switch {
	case bytes.HasPrefix(low, []byte("<svg")), bytes.HasPrefix(low, []byte("<?xml")) && bytes.Contains(low, []byte("<svg")):
		return "image/svg+xml"
	case bytes.HasPrefix(low, []byte("<?xml")):
		return "application/xml"
	case bytes.HasPrefix(low, []byte("<!doctype html")), bytes.HasPrefix(low, []byte("<html")):
		return "text/html"
	}
	return "text/plain"
}
