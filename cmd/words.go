package cmd

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/agentkit-go/agentkit/pkg/param"
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
	if !tool.IsPlain(words[0]) || strings.Contains(words[0], "=") {
		return "", false
	}
	return tool.QuoteWords(words), true
}

// sharedLetters are the letters of flags for all commands that a command's own flag may
// have, too, as -o and -h of grep. The command's annotation of that letter names its flag.
const (
	sharedLetters = outputLetter + "h"
	outputLetter  = "o"
)

// ownLetters rewrites those letters to the command's own flags, where they are meant: -o
// with no form of output behind it, -h with anything beside it. Nil says that nothing
// changes.
func ownLetters(c *cobra.Command, args []string) []string {
	if !slices.ContainsFunc(strings.Split(sharedLetters, ""), func(letter string) bool { return c.Annotations[letter] != "" }) {
		return nil
	}
	c.InitDefaultHelpFlag() // with this c knows the flags for all commands
	alone := ownWords(c.InheritedFlags(), args) == 1
	var out []string
	for i := 0; i < len(args); i++ {
		if args[i] == "--" {
			return append(out, args[i:]...)
		}
		next := ""
		if i+1 < len(args) {
			next = args[i+1]
		}
		own, word := splitLetters(c, args[i], next, alone)
		if out = append(out, own...); word == "" {
			continue
		}
		out = append(out, word)
		if takes, ok := takesValue(c.Flags(), word); ok && takes && i+1 < len(args) {
			i++
			out = append(out, args[i])
		}
	}
	return out
}

// dashedText has an argument that begins with two dashes and can be no flag, such as Lua
// that begins with a comment, be what it is, where no flag comes behind it; nil where there
// is none. The words of batch and its like are not ours to read.
func dashedText(c *cobra.Command, args []string) []string {
	if c.HasSubCommands() {
		return nil
	}
	_ = c.InheritedFlags() // has c know the flags for all commands
	for i := 0; i < len(args) && args[i] != "--"; i++ {
		name, _, _ := strings.Cut(strings.TrimPrefix(args[i], "--"), "=")
		if takes, ok := takesValue(c.Flags(), args[i]); ok && takes {
			i++
			continue
		}
		if !strings.HasPrefix(args[i], "--") || !strings.ContainsAny(name, " \n\t[](){}'\"") {
			continue
		}
		if slices.ContainsFunc(args[i+1:], func(word string) bool { return strings.HasPrefix(word, "-") }) {
			return nil
		}
		return slices.Insert(slices.Clone(args), i, "--")
	}
	return nil
}

// dashedValue rewrites a word such as the -9 of kill -9 to the flag whose value it is; nil
// where there is none.
func dashedValue(c *cobra.Command, args []string) []string {
	var of *pflag.Flag
	var fits func(string) bool
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if p, ok := f.Value.(*param.Param); ok && p.DashFits != nil {
			of, fits = f, p.DashFits
		}
	})
	if of == nil {
		return nil
	}
	c.InitDefaultHelpFlag() // with this c knows the flags for all commands
	for i := 0; i < len(args) && args[i] != "--"; i++ {
		word, dashed := strings.CutPrefix(args[i], "-")
		takes, known := takesValue(c.Flags(), args[i])
		switch {
		case takes:
			i++
		case dashed && !known && fits(word):
			args = slices.Clone(args)
			args[i] = "--" + of.Name + "=" + word
			return args
		}
	}
	return nil
}

// ownWords counts the words that are no flags for all commands and no values of these.
func ownWords(shared *pflag.FlagSet, args []string) (n int) {
	for i := 0; i < len(args); i++ {
		value, ok := takesValue(shared, args[i])
		if value {
			i++
		}
		if !ok {
			n++
		}
	}
	return n
}

// sharedWords parts a tool's words into the flags for all commands with their values, and the
// rest, as a program of the tool's name may be given them. A -o without a form of output
// behind it is the program's.
func sharedWords(c *cobra.Command, args []string) (ours, rest []string) {
	shared := c.InheritedFlags()
	for i := 0; i < len(args); i++ {
		if args[i] == "--" {
			return ours, append(rest, args[i:]...)
		}
		n := 0
		if strings.HasPrefix(args[i], "--") {
			if value, ok := takesValue(shared, args[i]); ok && value {
				n = 2
			} else if ok {
				n = 1
			}
		} else {
			_, n = outputAt(args[i:])
		}
		if n == 0 || i+n > len(args) {
			rest = append(rest, args[i])
			continue
		}
		ours = append(ours, args[i:i+n]...)
		i += n - 1
	}
	return ours, rest
}

// outputAt is the form of output that the first of the words names, and how many words that
// takes; "" and 0 where it names none.
func outputAt(words []string) (form string, n int) {
	for _, flag := range []string{"--output", "-" + outputLetter} {
		value, ok := strings.CutPrefix(words[0], flag)
		switch {
		case ok && value == "" && len(words) > 1:
			form, n = words[1], 2
		case ok && (value != "" && flag[1] != '-' || strings.HasPrefix(value, "=")):
			form, n = strings.TrimPrefix(value, "="), 1
		default:
			continue
		}
		if slices.Contains(enums()["output"], form) {
			return form, n
		}
	}
	return "", 0
}

// readOutput has an error be printed as the arguments say also where they were not read to
// their end, or not at all.
func (a *app) readOutput() {
	for i, word := range a.args {
		if word == "--" {
			return
		}
		if form, n := outputAt(a.args[i:]); n > 0 {
			a.Output = form
		}
	}
}

// splitLetters takes out of a word of flags the letters that stand for flags of the
// command's own, up to a letter with a value.
func splitLetters(c *cobra.Command, word, next string, alone bool) (own []string, rest string) {
	letters, cluster := strings.CutPrefix(word, "-")
	if !cluster || letters == "" || letters[0] == '-' {
		return nil, word
	}
	var plain []byte
	for letters != "" {
		letter, after := letters[:1], letters[1:]
		value := strings.TrimPrefix(after, "=")
		if value == "" {
			value = next
		}
		meant := letter == outputLetter && !slices.Contains(enums()["output"], value) || letter != outputLetter && !alone
		if flag := c.Annotations[letter]; flag != "" && strings.Contains(sharedLetters, letter) && meant {
			own = append(own, "--"+flag)
		} else if f := c.Flags().ShorthandLookup(letter); f == nil || f.NoOptDefVal == "" {
			break
		} else {
			plain = append(plain, letter...)
		}
		letters = after
	}
	if letters = string(plain) + letters; letters == "" {
		return own, ""
	}
	return own, "-" + letters
}
