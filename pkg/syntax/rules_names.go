package syntax

import "strings"

// pythonAccessor tells a property's setter and deleter from its getter.
func pythonAccessor(heading, name string) string {
	for _, kind := range [...]string{".setter", ".deleter"} {
		if strings.Contains(heading, "@"+name+kind) {
			return name + kind
		}
	}
	return name
}

// scriptAccessor does the same for "set name(value)".
func scriptAccessor(heading, name string) string {
	if hasWord(strings.Join(strings.Fields(heading), " "), "set") {
		return name + ".setter"
	}
	return name
}

// explicitInterface puts "IEnumerable." before the name of a C# member that
// implements it explicitly.
func explicitInterface(heading, name string) string {
	owner, ok := strings.CutSuffix(heading, ".")
	if !ok {
		return name
	}
	at := strings.LastIndexAny(owner, " \t\n)]")
	if open := strings.IndexByte(owner, '<'); open >= 0 && strings.HasSuffix(owner, ">") {
		at = strings.LastIndexAny(owner[:open], " \t\n)]")
	}
	return owner[at+1:] + "." + name
}

// implHeading is "impl From<u8> for Port" of the text of an impl block,
// without its own type parameters and its conditions.
func implHeading(text string) string {
	text, _, _ = strings.Cut(text, "{")
	_, text, _ = strings.Cut(text, "impl")
	text = strings.Join(strings.Fields(text), " ")
	if strings.HasPrefix(text, "<") {
		text = strings.TrimSpace(text[matching(text):])
	}
	text, _, _ = strings.Cut(text, " where ")
	return "impl " + strings.TrimSuffix(text, " where")
}

// implOwner is "Port.From<u8>" of "impl From<u8> for Port": a method's owner
// is the type, and the trait tells it from its namesakes.
func implOwner(heading string) string {
	trait, owner, has := strings.Cut(strings.TrimPrefix(heading, "impl "), " for ")
	if !has {
		return bareType(trait)
	}
	return bareType(owner) + "." + unqualified(strings.TrimPrefix(trait, "!"))
}

// matching is the offset behind the bracket that closes the first one.
func matching(text string) int {
	depth := 0
	for i := range len(text) {
		switch text[i] {
		case '<', '(', '[':
			depth++
		case '>', ')', ']':
			if text[i] == '>' && i > 0 && (text[i-1] == '-' || text[i-1] == '=') {
				continue
			}
			if depth--; depth <= 0 {
				return i + 1
			}
		}
	}
	return len(text)
}

// unqualified drops the path before a name, not those within its arguments.
func unqualified(name string) string {
	head, args, has := strings.Cut(name, "<")
	head = head[strings.LastIndexByte(head, ':')+1:]
	if has {
		return head + "<" + args
	}
	return head
}

// bareType strips references, type arguments and the path of a type.
func bareType(text string) string {
	for again := true; again; {
		text, again = strings.TrimLeft(text, "&*([ "), false
		for _, word := range [...]string{"mut ", "dyn ", "const ", "'"} {
			if strings.HasPrefix(text, word) {
				_, text, again = strings.Cut(text, " ")
			}
		}
	}
	text, _, _ = strings.Cut(text, "<")
	text = strings.TrimRight(text, ") ]")
	return text[strings.LastIndexByte(text, ':')+1:]
}

// testName is "Suite.Case" of TEST(Suite, Case) {…}: a macro that makes a
// function is no name to find it by.
func testName(heading, name string) string {
	arguments, ok := strings.CutPrefix(heading, name+"(")
	if !ok || !isMacroName([]byte(name)) {
		return name
	}
	arguments, _, _ = strings.Cut(arguments, ")")
	var words []string
	for a := range strings.SplitSeq(arguments, ",") {
		a = strings.TrimSpace(a)
		if a == "" || strings.ContainsFunc(a, notWord) {
			return name
		}
		words = append(words, a)
	}
	return strings.Join(words, ".")
}

func dotNames(text string) string {
	return strings.NewReplacer("::", ".", `\`, ".").Replace(text)
}

// operatorName keeps the colons of what is no qualifier.
func operatorName(text string) string { return strings.Join(strings.Fields(text), " ") }

// keepNothing makes "[]" of an indexer's parameters.
func keepNothing(string) string { return "[]" }

func withoutColon(text string) string { return strings.TrimPrefix(text, ":") }

// protocolHeading is "impl Jason.Encoder for User" of a defimpl.
func protocolHeading(text string) string {
	text, _, _ = strings.Cut(strings.TrimPrefix(text, "defimpl"), " do")
	protocol, options, _ := strings.Cut(strings.Trim(text, " (),"), ",")
	if _, owner, ok := strings.Cut(options, "for:"); ok {
		return "impl " + protocol + " for " + strings.Join(strings.Fields(owner), " ")
	}
	return "impl " + protocol
}

// protocolOwner is the module that a defimpl makes.
func protocolOwner(heading string) string {
	protocol, owner, has := strings.Cut(strings.TrimPrefix(heading, "impl "), " for ")
	if !has || strings.HasPrefix(owner, "[") {
		return protocol
	}
	return protocol + "." + owner
}

// plainWord drops what is not a lone name, such as "a.b" or "a[1]".
func plainWord(text string) string {
	if text = strings.TrimSpace(text); strings.ContainsAny(text, ".[( ,\n") {
		return ""
	}
	return text
}

// withoutTags is the text between tags.
func withoutTags(text string) string {
	var b strings.Builder
	for text != "" {
		before, rest, _ := strings.Cut(text, "<")
		b.WriteString(before)
		_, text, _ = strings.Cut(rest, ">")
	}
	return b.String()
}

// idOf is the value of the id attribute of a tag.
func idOf(tag string) string {
	for _, quote := range []string{`"`, `'`} {
		for _, space := range []string{" ", "\n", "\t"} {
			if _, rest, ok := strings.Cut(tag, space+"id="+quote); ok {
				id, _, _ := strings.Cut(rest, quote)
				return id
			}
		}
	}
	return ""
}

func beforeBrace(text string) string {
	before, _, _ := strings.Cut(text, "{")
	return strings.TrimRight(before, "; \n\t")
}
