package cmd

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/agentkit-go/agentkit/pkg/audit"
	"github.com/agentkit-go/agentkit/pkg/nearest"
	"github.com/agentkit-go/agentkit/pkg/param"
	"github.com/agentkit-go/agentkit/pkg/tool"
)

// command turns t into a subcommand. Its input is flags and arguments, or one
// JSON object: --json '{...}', or --json - for standard input. Without bind
// the command has no flags yet: it is there for the help of others.
func (a *app) command(t *tool.Tool, bind bool) *cobra.Command {
	c := &cobra.Command{
		Use:     t.Name,
		Short:   t.Summary,
		GroupID: "tools",
		Args:    cobra.ArbitraryArgs,
	}
	if !bind {
		c.Run = func(*cobra.Command, []string) {} // never reached: it makes help list the command
		return c
	}
	in := tool.New(t)
	set := in.Set
	var object string
	c.Use = strings.Join(append([]string{t.Name}, synopsis(set)...), " ")
	c.Long = t.Summary + "\n\nExamples:\n    " + strings.Join(t.Examples, "\n    ") + "\n\n" + t.Page()
	c.RunE = func(c *cobra.Command, args []string) error {
		if c.Flags().Changed("dialect") {
			return tool.Errorf(tool.BadInput, "--dialect is for calls by JSON").WithHint("agentkit call --dialect %s TOOL", a.Dialect)
		}
		if c.Flags().Changed("json") {
			return a.runJSON(c, t, object, args)
		}
		a.prepare(t)
		if err := a.fill(c, set, args); err != nil {
			return err
		}
		a.global(c, "max-lines")
		return a.run(c, in)
	}
	c.Flags().StringVar(&object, "json", "", "all parameters as one JSON `object`; - reads standard input")
	bindFlags(c, set)
	if a.completes() {
		bindCompletions(c, set, a.ids(t))
	}
	return c
}

// prepare begins, beside what else is to be done, what a call of t needs later on. To
// work out how results and records are written takes encoding/json a third of a
// millisecond.
func (a *app) prepare(t *tool.Tool) {
	if !t.ReadOnly {
		go a.listen()
	}
	go func() {
		a.found.where()
		a.found.own()
		tool.Learn(&audit.Record{})
		tool.Learn(&tool.Result{Metadata: t.Metadata})
	}()
}

// completion completes a word on a command line.
type completion = func(c *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective)

// ids completes the parameter id of t; nil where it has none.
func (a *app) ids(t *tool.Tool) completion {
	if t.IDs == nil {
		return nil
	}
	return func(c *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		env, err := a.env(c.Context())
		if err != nil || len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return oneLine(t.IDs(c.Context(), env)), cobra.ShellCompDirectiveNoFileComp
	}
}

// oneLine has every completion be one line that a terminal can show.
func oneLine(list []string) []string {
	for i, s := range list {
		id, about, _ := strings.Cut(s, "\t")
		list[i] = id + "\t" + tool.VisibleName(about)
	}
	return list
}

// bindFlags makes every parameter of set a flag of c. Flags may also be
// spelled with underscores and by the parameter's other names.
func bindFlags(c *cobra.Command, set *param.Set) {
	known := map[string]pflag.NormalizedName{} // cobra asks for each of them some ten times
	c.Flags().SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		if known[name] == "" {
			known[name] = pflag.NormalizedName(name)
			if p := cmp.Or(set.Lookup(strings.ReplaceAll(name, "-", "_")), set.Lookup(name)); p != nil {
				known[name] = pflag.NormalizedName(p.Flag())
			}
		}
		return known[name]
	})
	c.Flags().SortFlags = false
	for _, p := range set.Params {
		letter := p.Short
		if strings.Contains(sharedLetters, letter) && letter != "" {
			if c.Annotations == nil {
				c.Annotations = map[string]string{}
			}
			c.Annotations[letter], letter = p.Flag(), ""
		}
		usage := p.Usage
		if p.Enum != nil {
			usage += ": " + strings.Join(p.Enum, ", ")
		}
		if p.ZeroIsAbsent() {
			usage += "; 0 is as without it"
		}
		f := c.Flags().VarPF(p, p.Flag(), letter, usage)
		f.Hidden = p.Silent
		if p.Program {
			c.Annotations = map[string]string{takesWords: p.Name}
			c.Long += fmt.Sprintf("\n\nSeveral words are a program and all that belongs to it, as in agentkit %s ls -la;\n"+
				"flags of this command stand before them then.", c.Name())
		}
		if p.Type() == "bool" {
			f.NoOptDefVal = "true"
		}
		if p.Alone != "" {
			f.NoOptDefVal = p.Alone
		}
	}
}

// bindCompletions says what the values of c's flags and its arguments may be.
func bindCompletions(c *cobra.Command, set *param.Set, ids completion) {
	for _, p := range set.Params {
		switch name := p.Flag(); {
		case p.Name == "id" && ids != nil:
			_ = c.RegisterFlagCompletionFunc(name, ids)
		case p.Enum != nil:
			_ = c.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(p.Enum, cobra.ShellCompDirectiveNoFileComp))
		case p.Known != nil:
			_ = c.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(p.Known(), cobra.ShellCompDirectiveNoFileComp))
		case p.Kind == param.Directory:
			_ = c.MarkFlagDirname(name)
		case p.Kind != param.File:
			_ = c.RegisterFlagCompletionFunc(name, cobra.NoFileCompletions)
		}
	}
	if c.ValidArgsFunction = ids; ids != nil {
		return
	}
	c.ValidArgsFunction = func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		for _, p := range set.Params {
			switch {
			case p.Pos && p.Kind == param.Directory:
				return nil, cobra.ShellCompDirectiveFilterDirs
			case p.Pos && p.Kind == param.File:
				return nil, cobra.ShellCompDirectiveDefault
			}
		}
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
}

// global gives the global flag of a name what the flag of a parameter was given
// that hides it, and reports whether there is one. Where the flag stood, before
// the tool's name or behind it, nobody can tell.
func (a *app) global(c *cobra.Command, name string) bool {
	own, hidden := c.Flags().Lookup(name), c.Root().PersistentFlags().Lookup(name)
	if hidden == nil || own == nil {
		return false
	}
	return own == hidden || !own.Changed || hidden.Value.Set(own.Value.String()) == nil
}

func (a *app) runJSON(c *cobra.Command, t *tool.Tool, object string, args []string) error {
	if len(args) > 0 {
		return tool.Errorf(tool.BadInput, "unexpected argument %q beside --json", args[0]).
			WithHint("put every parameter into the JSON object")
	}
	var clash string
	for _, p := range tool.New(t).Set.Params {
		if f := c.Flags().Lookup(p.Flag()); f != nil && f.Changed && !a.global(c, f.Name) {
			clash = f.Name
		}
	}
	if clash != "" {
		return tool.Errorf(tool.BadInput, "--%s beside --json", clash).WithHint("put every parameter into the JSON object")
	}
	raw := []byte(object)
	if object == "-" {
		var err error
		if raw, err = a.readObject(); err != nil {
			return err
		}
	}
	return a.do(c, t, raw)
}

// do runs t with the JSON object raw. The object is read before the policy,
// so that a mistake in it is reported whatever else is wrong.
func (a *app) do(c *cobra.Command, t *tool.Tool, raw json.RawMessage) error {
	a.prepare(t)
	in, err := tool.Decode(t, raw)
	if err == nil {
		err = a.run(c, in)
	}
	if err != nil {
		a.emit(t.Fail(err))
	}
	return nil
}

// run makes the call and prints its result; an error is one before the call. What
// it leaves to be done is done after the result: nobody waits for that.
func (a *app) run(c *cobra.Command, in *tool.Invocation) error {
	if a.many() {
		return a.fleet(c.Context(), in)
	}
	a.Dialect = "" // the call is in our own words, whatever others come in
	r, err := a.open(c.Context())
	if err != nil {
		return err
	}
	defer r.close(c.Context())
	p := a.peer(r.limits())
	ctx, unread := c.Context(), func() bool { return false }
	if in.Tool.Passes || in.Tool.ReadOnly { // what changes something is not left half done
		ctx, unread = whileRead(ctx, a.stdout)
	}
	var result *tool.Result
	var rest func(context.Context)
	if r.far != nil {
		args, err := sent(in.Set)
		if err != nil {
			return err
		}
		result = r.far.call(ctx, p, in.Tool.Name, args)
		result.Told(in)
		result.Passes = in.Tool.Passes
	} else {
		told := a.await(in.Tool.Name, &p)
		result, rest = r.run(ctx, r.fresh(p), in)
		told()
	}
	if unread() {
		a.exit = exitUnread
	} else {
		a.emit(result)
	}
	if rest != nil {
		rest(c.Context())
	}
	return nil
}

// fill stores plain arguments and what "-" stands for.
func (a *app) fill(c *cobra.Command, set *param.Set, args []string) error {
	if p := set.Lookup(c.Annotations[takesWords]); p != nil && !p.Given() && len(args) > 1 {
		line, ok := commandLine(args)
		if !ok {
			return tool.Errorf(tool.BadInput, "unexpected argument %q", args[1]).
				WithHint("give the command line as one argument, or a program and each of its words")
		}
		args = []string{line}
	}
	if err := set.Fill(args); err != nil {
		return err
	}
	var read bool
	for _, p := range set.Params {
		if !p.Stdin || !p.Given() || p.String() != "-" {
			continue
		}
		if read {
			return tool.Errorf(tool.BadInput, "standard input is asked for twice").WithHint("give one of the two by its value")
		}
		read = true
		data, err := a.readStdin()
		if err != nil {
			return err
		}
		if err := p.Set(string(data)); err != nil {
			return err
		}
	}
	return nil
}

// synopsis is the arguments of a command as its usage line shows them.
func synopsis(set *param.Set) []string {
	var list []string
	for _, p := range set.Params {
		name := strings.ToUpper(p.Name)
		if p.List() {
			name += "..."
		}
		switch {
		case p.Pos && p.Must:
			list = append(list, name)
		case p.Pos:
			list = append(list, "["+name+"]")
		}
	}
	return list
}

// flagError explains a flag that did not parse: bad input, with the nearest
// flag there is.
func (a *app) flagError(c *cobra.Command, err error) error {
	a.readOutput()
	e := tool.Errorf(tool.BadInput, "%w", err).WithHint("see %s --help", c.CommandPath())
	itself := a.programItself(c)
	var absent *pflag.NotExistError
	var invalid *pflag.InvalidValueError
	switch {
	case errors.As(err, &absent):
		var flags []string
		c.Flags().VisitAll(func(f *pflag.Flag) { flags = append(flags, "--"+f.Name) })
		c.InheritedFlags().VisitAll(func(f *pflag.Flag) { flags = append(flags, "--"+f.Name) })
		slices.Sort(flags)
		near := nearest.Words("--"+absent.GetSpecifiedName(), slices.Compact(flags), 3)
		e = tool.Errorf(tool.BadInput, "unknown flag %s", dashed(absent.GetSpecifiedName())).WithHint("see %s --help", c.CommandPath())
		if word := a.fileLike(absent); word != "" {
			return e.WithHint("to name the file %s, put -- before it: %s -- %s", word, c.CommandPath(), tool.QuoteWord(word)).Suggest("-- " + tool.QuoteWord(word))
		}
		switch {
		case itself != "" && absent.GetSpecifiedShortnames() != "":
			_ = e.WithHint("the program %s itself may know it: %s", c.Name(), itself).Suggest(itself)
		case len(near) > 0:
			_ = e.WithHint("did you mean %s?", near[0]).Suggest(near...)
		case itself != "":
			_ = e.WithHint("the program %s itself may know it: %s", c.Name(), itself).Suggest(itself)
		}
	case errors.As(err, &invalid):
		e = tool.Errorf(tool.BadInput, "--%s: %v", invalid.GetFlag().Name, invalid.Unwrap()).WithHint("see %s --help", c.CommandPath())
		if p, ok := errors.AsType[*param.Error](err); ok {
			named := *p
			named.Param = "--" + invalid.GetFlag().Name
			e = e.WithHint("%s", named.Hint()).Suggest(p.Near...)
		}
	}
	return e
}

// programItself is the command line that calls the program after which the tool of c is
// named, in place of the tool; "" where there is none.
func (a *app) programItself(c *cobra.Command) string {
	t, err := Tools.Find(c.Name())
	at := slices.Index(a.args, c.Name())
	if err != nil || !t.Program || at < 0 {
		return ""
	}
	ours, words := sharedWords(c, a.args[at+1:])
	return tool.QuoteWords(slices.Concat([]string{"agentkit"}, a.args[:at], ours, []string{"bash", c.Name()}, words))
}

// fileLike is the word that was read as a flag which does not exist, where it
// is the name of a file; "" for none.
func (a *app) fileLike(absent *pflag.NotExistError) string {
	flag := "--" + absent.GetSpecifiedName()
	if letters := absent.GetSpecifiedShortnames(); letters != "" {
		flag = "-" + letters
	}
	for _, word := range a.args {
		if word == "--" {
			break
		}
		if word != flag && !strings.HasPrefix(word, flag+"=") && (flag[1] == '-' || !strings.HasSuffix(word, flag[1:])) {
			continue
		}
		if _, err := os.Lstat(filepath.Join(a.Root, word)); err == nil && strings.HasPrefix(word, "-") {
			return word
		}
	}
	return ""
}

func dashed(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return fmt.Sprintf("--%s", name)
}
