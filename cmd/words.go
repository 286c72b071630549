package cmd

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/agentkit-go/agentkit/pkg/tool"
)

// program rewrites the arguments of a command that takes a program's words, as
// bash does, where they are several: from the first word on all of it is the
// program's, its flags too. What is only followed by flags of c's own is one
// argument, and nil says that nothing changes.
func program(c *cobra.Command, args []string) []string {
	if c.Annotations[takesWords] == "" {
		return nil
	}
	_ = c.InheritedFlags() // has c know the flags for all commands
	first := ownFlags(c, args)
	if first >= len(args) || strings.HasPrefix(args[first], "-") && args[first] != "-" {
		return nil
	}
	if rest := args[first+1:]; ownFlags(c, rest) >= len(rest) {
		return nil
	}
	if _, ok := commandLine(args[first:]); !ok {
		return nil
	}
	return slices.Insert(slices.Clone(args), first, "--")
}

// takesWords is the annotation of a command that takes a program's words.
const takesWords = "words"

// ownFlags counts the words at the beginning of args that are c's flags and
// their values.
func ownFlags(c *cobra.Command, args []string) int {
	c.InitDefaultHelpFlag()
	for i := 0; i < len(args); i++ {
		value, ok := takesValue(c.Flags(), args[i])
		if !ok {
			return i
		}
		if value {
			i++
		}
	}
	return len(args)
}

// takesValue reports whether the word after arg is the value of the flag or flags
// that arg is; ok is false where it is none of them.
func takesValue(flags *pflag.FlagSet, arg string) (value, ok bool) {
	if name, long := strings.CutPrefix(arg, "--"); long {
		name, _, given := strings.Cut(name, "=")
		f := flags.Lookup(name)
		return f != nil && !given && f.NoOptDefVal == "", name != "" && f != nil
	}
	letters, short := strings.CutPrefix(arg, "-")
	if !short || letters == "" {
		return false, false
	}
	for i := range len(letters) {
		f := flags.ShorthandLookup(letters[i : i+1])
		switch {
		case f == nil:
			return false, false
		case f.NoOptDefVal == "":
			return i == len(letters)-1, true
		case i+1 < len(letters) && letters[i+1] == '=':
			return false, true
		}
	}
	return false, true
}

// commandLine is the words of a program as one command line that a shell reads as
// exactly these; ok is false where the first is more than the name of a program,
// such as a command line of its own.
func commandLine(words []string) (line string, ok bool) {
	if !isPlain(words[0]) || strings.Contains(words[0], "=") {
		return "", false
	}
	quoted := slices.Clone(words)
	for i, w := range words {
		if !isPlain(w) {
			quoted[i] = tool.QuoteWord(w)
		}
	}
	return strings.Join(quoted, " "), true
}

// isPlain reports whether a shell reads word as it stands.
func isPlain(word string) bool {
	return word != "" && strings.Trim(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%") == ""
}

// outputLetter is the letter of a flag for all commands that one of a command's own
// may have, too, as -o of grep; sharedLetter is the annotation with that flag's name.
const (
	outputLetter = "o"
	sharedLetter = "letter"
)

// ownLetter rewrites that letter to the command's own flag, where what follows is no
// form of output; nil says that nothing changes.
func ownLetter(c *cobra.Command, args []string) []string {
	own := c.Annotations[sharedLetter]
	if own == "" {
		return nil
	}
	_ = c.InheritedFlags() // has c know the flags for all commands
	forms := enums()["output"]
	var out []string
	for i := 0; i < len(args); i++ {
		if args[i] == "--" {
			return append(out, args[i:]...)
		}
		letters, cluster := strings.CutPrefix(args[i], "-")
		before, after, found := strings.Cut(letters, outputLetter)
		value := strings.TrimPrefix(after, "=")
		if value == "" && i+1 < len(args) {
			value = args[i+1]
		}
		if cluster && found && !strings.HasPrefix(letters, "-") && isCluster(c.Flags(), before) && !slices.Contains(forms, value) {
			for _, part := range []string{before, after} {
				if part != "" {
					out = append(out, "-"+part)
				}
			}
			out = append(out, "--"+own)
			continue
		}
		out = append(out, args[i])
		if takes, ok := takesValue(c.Flags(), args[i]); ok && takes && i+1 < len(args) {
			i++
			out = append(out, args[i])
		}
	}
	return out
}

// isCluster reports whether letters are flags without a value.
func isCluster(flags *pflag.FlagSet, letters string) bool {
	for i := range len(letters) {
		if f := flags.ShorthandLookup(letters[i : i+1]); f == nil || f.NoOptDefVal == "" {
			return false
		}
	}
	return true
}
