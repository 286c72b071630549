package syntax

import (
	"slices"
	"strconv"
	"strings"
)

// Find returns the symbols with a name, which may be "Name", "Type.Method" or
// a longer end of a path, as people write them: "::", "#", "/" and "->"
// separate as dots do, "(*Server).Serve", "<Port as From<u8>>::from", "run/2"
// and "Add(int, int)" are understood. Owners may be left out, and type
// arguments where there is no other with the same name. When there is none,
// near holds up to three paths that were probably meant.
func Find(symbols []Symbol, name string) (found []Symbol, near []string) {
	if found = matches(symbols, func(s Symbol) bool { return s.Name == name || endsWith(s.Path(), name) }); len(found) > 0 {
		return found, nil
	}
	want := parseName(name)
	if len(want.parts) == 0 {
		return nil, nearNames(symbols, dotted(name))
	}
	for _, same := range []func(a, b string) bool{func(a, b string) bool { return a == b }, sameBare} {
		for _, owned := range []func(path, parts []string, same func(a, b string) bool) bool{suffix, within} {
			found = matches(symbols, func(s Symbol) bool { return want.fits(s) && owned(splitPath(s.Path()), want.parts, same) })
			if len(found) > 0 {
				return found, nil
			}
		}
	}
	found = matches(symbols, func(s Symbol) bool {
		path, accessor := strings.CutSuffix(s.Path(), ".setter")
		return accessor && suffix(splitPath(path), want.parts, sameBare)
	})
	if len(found) > 0 {
		return found, nil
	}
	found = matches(symbols, func(s Symbol) bool { return s.Kind == Impl && implements(s.Name, name) })
	if len(found) > 0 {
		return found, nil
	}
	return nil, nearNames(symbols, dotted(name))
}

func matches(symbols []Symbol, is func(Symbol) bool) []Symbol {
	var found []Symbol
	for _, s := range symbols {
		if is(s) {
			found = append(found, s)
		}
	}
	return found
}

func endsWith(path, name string) bool { return path == name || strings.HasSuffix(path, "."+name) }

// A wanted name is taken apart.
type wanted struct {
	parts      []string
	arity      int    // of "run/2"; -1 where none is named
	parameters string // of "Add(int, int)", without space; "" where none are named
}

func parseName(name string) wanted {
	w := wanted{arity: -1}
	name = strings.TrimSpace(name)
	if trait, ok := strings.CutPrefix(name, "<"); ok { // <Port as From<u8>>::from
		if end := matching(name); strings.Contains(name[:end], " as ") && end < len(name) {
			owner, rest, _ := strings.Cut(trait[:end-2], " as ")
			name = owner + "::" + rest + name[end:]
		}
	}
	for _, word := range [...]string{"public ", "private ", "static ", "async ", "export ", "pub ", "func ", "function ", "def ", "defp ", "fn ", "class ", "struct ", "interface ", "trait ", "enum ", "type ", "module "} {
		name = strings.TrimPrefix(name, word)
	}
	if value, ok := strings.CutPrefix(name, "set "); ok {
		name = value + ".setter"
	}
	name = strings.TrimSuffix(strings.TrimPrefix(name, "get "), ".getter")
	if strings.HasPrefix(name, "(") { // (*Server).Serve, (s *Server) Serve
		end := matching(name)
		owner := strings.Trim(name[1:max(end-1, 1)], "*& ")
		owner = strings.TrimLeft(owner[strings.LastIndexByte(owner, ' ')+1:], "*&")
		name = owner + "." + strings.TrimLeft(name[end:], ". ")
	}
	if open := strings.IndexByte(name, '('); open > 0 && strings.HasSuffix(name, ")") && !strings.HasSuffix(name[:open], "operator") {
		w.parameters = withoutSpace(name[open:])
		name = strings.TrimSpace(name[:open])
	}
	if slash := strings.LastIndexByte(name, '/'); slash > 0 {
		if n, err := strconv.Atoi(name[slash+1:]); err == nil {
			name, w.arity = name[:slash], n
		}
	}
	w.parts = splitPath(dotted(name))
	return w
}

// fits reports whether the parameters of a symbol are those that are wanted.
func (w wanted) fits(s Symbol) bool {
	if w.arity >= 0 && s.arity != w.arity+1 {
		return false
	}
	return w.parameters == "" || w.parameters == "()" || strings.Contains(withoutSpace(s.Signature), w.parameters) || sameTypes(s.Signature, w.parameters)
}

// sameTypes compares "Add(int a, int b)" with "(int,int)".
func sameTypes(signature, types string) bool {
	open := strings.IndexByte(signature, '(')
	if open < 0 {
		return false
	}
	list := strings.Trim(signature[open:open+matching(signature[open:])], "()")
	given := strings.Split(strings.Trim(types, "()"), ",")
	parameters := strings.Split(list, ",")
	if len(parameters) != len(given) {
		return false
	}
	for i, p := range parameters {
		words := strings.Fields(p)
		if !slices.ContainsFunc(words, func(x string) bool { return strings.Trim(x, ":*&") == strings.Trim(given[i], ":*&") }) {
			return false
		}
	}
	return true
}

func withoutSpace(s string) string { return strings.Join(strings.Fields(s), "") }

// splitPath splits at dots that stand outside of type arguments and strings.
func splitPath(path string) []string {
	var parts []string
	depth, start := 0, 0
	for i := range len(path) {
		switch path[i] {
		case '<', '[', '(':
			depth++
		case '>', ']', ')':
			depth = max(0, depth-1)
		case '.':
			if depth == 0 {
				parts, start = append(parts, path[start:i]), i+1
			}
		}
	}
	return append(parts, path[start:])
}

// suffix reports whether a path ends with parts.
func suffix(path, parts []string, same func(a, b string) bool) bool {
	return len(path) >= len(parts) && slices.EqualFunc(path[len(path)-len(parts):], parts, same)
}

// within reports whether a path ends with the last of parts and holds the
// others before it, in their order.
func within(path, parts []string, same func(a, b string) bool) bool {
	last := len(parts) - 1
	if len(path) == 0 || !same(path[len(path)-1], parts[last]) {
		return false
	}
	parts = parts[:last]
	for _, p := range path[:len(path)-1] {
		if len(parts) > 0 && same(p, parts[0]) {
			parts = parts[1:]
		}
	}
	return len(parts) == 0
}

// sameBare compares names without space, and without type arguments where the
// wanted one has none.
func sameBare(have, want string) bool {
	if !strings.Contains(want, "<") {
		have, _, _ = strings.Cut(have, "<")
	}
	return withoutSpace(have) == withoutSpace(want)
}

// implements reports whether "impl From<u8> for Port" is meant by "From<u8>"
// or "From<u8> for Port".
func implements(heading, name string) bool {
	trait, owner, has := strings.Cut(strings.TrimPrefix(heading, "impl "), " for ")
	if heading = withoutSpace(trait); has {
		heading += "for" + withoutSpace(owner)
	}
	name = withoutSpace(strings.TrimPrefix(name, "impl "))
	return heading == name || strings.HasPrefix(heading, name+"for") || strings.HasPrefix(unqualified(trait)+"for", name+"for")
}

// Narrow leaves, of the symbols that [Find] gave for a name, those that it most
// likely means: the one whose whole path or last name it is, a definition
// before its prototype, a type before its constructors and a type without
// arguments before one with them.
func Narrow(list []Symbol, name string) []Symbol {
	want := parseName(name)
	last := ""
	if len(want.parts) > 0 {
		last = want.parts[len(want.parts)-1]
	}
	for _, keep := range []func(Symbol) bool{
		func(s Symbol) bool { return s.Path() == name || s.Path() == strings.Join(want.parts, ".") },
		func(s Symbol) bool { return s.Name == last },
		func(s Symbol) bool { return s.Kind != Prototype },
		func(s Symbol) bool { return isType(s.Kind) && holdsOthers(s, list) },
		func(s Symbol) bool { return isType(s.Kind) && !strings.Contains(s.Signature, s.Name+"<") },
	} {
		var some []Symbol
		for _, s := range list {
			if keep(s) {
				some = append(some, s)
			}
		}
		if len(some) > 0 {
			list = some
		}
	}
	// One thing under two names, as in typedef struct a {...} a.
	for _, s := range list {
		if !slices.ContainsFunc(list, func(o Symbol) bool {
			return o.Path() != s.Path() || o.First < s.First || o.EndLine > s.EndLine
		}) {
			return []Symbol{s}
		}
	}
	return list
}

func isType(k Kind) bool {
	return k == Class || k == Struct || k == Interface || k == Enum || k == Type
}

// holdsOthers reports whether each other symbol of a list is a constructor of s
// or the like: it has its name, and is one of its members.
func holdsOthers(s Symbol, list []Symbol) bool {
	return !slices.ContainsFunc(list, func(o Symbol) bool {
		return o.Path() != s.Path() && !strings.HasPrefix(o.Path(), s.Path()+".")
	})
}

func dotted(name string) string {
	return strings.Trim(strings.NewReplacer("::", ".", "->", ".", "#", ".", "/", ".", " > ", ".").Replace(name), ".")
}
