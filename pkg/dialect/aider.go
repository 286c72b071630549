package dialect

import (
	"path"
	"slices"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/tool"
)

// aider is the edit blocks that models print which were told to by Aider: a path,
// then the text that stands there and the text that is to, between marks.
func aider() *Dialect {
	return &Dialect{
		Name: "aider", Of: "Aider's edit blocks",
		Tools: []Tool{{
			Name: "edit_blocks", Also: "blocks", To: "edit", Told: "Changes files by edit blocks: a path on a line of its own, <<<<<<< SEARCH, the lines that stand there, =======, the lines to put in their place, >>>>>>> REPLACE.",
			Params: []Param{{Name: "text", Usage: "the answer of a model, with the blocks in it", Must: true}},
			Map:    editBlocks,
			Show: func(v *View) string {
				return failedOr(v, func() string { return v.Output })
			},
			Differs: "all blocks are done, or none; a block without lines to search for makes a new file, alone in its answer",
		}},
	}
}

// An editBlock is a text to replace in a file.
type editBlock struct{ path, old, new string }

// editBlocks makes one edit of all blocks in a text.
func editBlocks(c *Call) error {
	list, err := blocks(c.text("text"))
	if err != nil {
		return err
	}
	if list[0].old == "" {
		if len(list) > 1 {
			return tool.Errorf(tool.BadInput, "a block that makes a new file stands beside others").WithHint("send it alone, then the others")
		}
		c.To, c.Out = "write", Args{"path": list[0].path, "content": list[0].new, "create_only": true}
		return nil
	}
	var edits []Args
	for _, b := range list {
		edits = append(edits, Args{"path": b.path, "old_string": b.old, "new_string": b.new})
	}
	c.Out = Args{"path": list[0].path, "edits": edits}
	return nil
}

// blocks finds the edit blocks in a text.
func blocks(text string) ([]editBlock, error) {
	lines := strings.SplitAfter(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	mark := func(line, sign string) bool {
		line = strings.TrimRight(line, " \n")
		name := map[string]string{"<": "SEARCH", ">": "REPLACE"}[sign]
		rest := strings.TrimLeft(line, sign)
		n := len(line) - len(rest)
		return n >= 5 && n <= 9 && strings.TrimSpace(rest) == name
	}
	var list []editBlock
	last := ""
	for i := 0; i < len(lines); i++ {
		if !mark(lines[i], "<") {
			continue
		}
		if name := named(lines[max(0, i-3):i]); name != "" {
			last = name
		}
		middle := slices.IndexFunc(lines[i:], func(l string) bool { return mark(l, "=") })
		end := slices.IndexFunc(lines[i:], func(l string) bool { return mark(l, ">") })
		if middle < 0 || end < middle {
			return nil, tool.Errorf(tool.BadInput, "the block in line %d is not closed", i+1).WithHint("a block has the lines <<<<<<< SEARCH, ======= and >>>>>>> REPLACE")
		}
		if last == "" {
			return nil, tool.Errorf(tool.BadInput, "the block in line %d names no file", i+1).WithHint("put the file's path on the line before it")
		}
		list = append(list, editBlock{last, strings.Join(lines[i+1:i+middle], ""), strings.Join(lines[i+middle+1:i+end], "")})
		i += end
	}
	if len(list) == 0 {
		return nil, tool.Errorf(tool.BadInput, "there is no edit block").WithHint("a block has the lines <<<<<<< SEARCH, ======= and >>>>>>> REPLACE, and a path before it")
	}
	return list, nil
}

// named is the path in the lines before a block, which may be a fence too; "" for
// none.
func named(lines []string) string {
	for _, l := range slices.Backward(lines) {
		l = strings.Trim(strings.TrimSpace(l), "*`#: ")
		switch {
		case l == "" || strings.HasPrefix(l, ">>>>>"):
		case strings.ContainsAny(l, "/.") && !strings.Contains(l, " ") || path.Ext(l) != "" && !strings.HasSuffix(l, "."):
			return l
		}
	}
	return ""
}
