package programs

import (
	"path"
	"slices"
	"strings"
)

// sqlite reads the words of sqlite3. Its database is written, unless every
// statement certainly only asks. One that is missing is made, where there is its
// directory.
func (c *Call) sqlite() {
	c.parse()
	if !c.sqliteAsks() {
		if len(c.Args) > 0 && strings.HasPrefix(c.Args[0].Text, "file:") {
			c.opaque("its database is named by an address")
		}
		c.operands(c.Record.Operands)
		return
	}
	c.Shell.SetClass(ReadOnly)
	c.does(Read, c.Args[0])
}

func (c *Call) sqliteAsks() bool {
	if len(c.Args) < 2 || c.Shell.Stdin().Set || strings.HasPrefix(c.Args[0].Text, "file:") {
		return false
	}
	if x := c.Args[0]; c.Shell.Sees() && !x.Dynamic && !c.Shell.Exists(x.Text) && c.Shell.Exists(path.Dir(x.Text)) {
		return false
	}
	for _, o := range c.Given {
		if !slices.ContainsFunc(strings.Fields("batch bail csv json column header noheader readonly separator nullvalue newline line list html echo"), func(n string) bool { return hasName(o.Names, n) }) {
			return false
		}
	}
	return !slices.ContainsFunc(c.Args[1:], func(x Word) bool { return x.Dynamic || !asks(x.Text) })
}

// sqliteOrders are the orders to sqlite3 that print something of the database or
// say how, pragmas that do, and functions that compute. The words before a
// parenthesis that are no functions stand with them.
const (
	sqliteOrders    = ".changes .databases .dbinfo .dump .echo .fullschema .header .headers .indexes .indices .mode .nullvalue .schema .separator .show .stats .tables .timer .version .width"
	sqlitePragmas   = "collation_list compile_options database_list foreign_key_check foreign_key_list function_list index_info index_list index_xinfo integrity_check pragma_list quick_check table_info table_list table_xinfo"
	sqliteFunctions = "abs avg cast char coalesce concat concat_ws count date datetime dense_rank first_value format glob group_concat hex ifnull iif instr json json_array json_array_length json_each json_extract json_group_array json_group_object json_object json_tree json_type json_valid julianday lag last_value lead length like lower ltrim max min ntile nullif printf quote random rank replace round row_number rtrim sqlite_version strftime string_agg substr substring sum time timediff total trim typeof unhex unicode unixepoch upper" +
		" all and as between by case distinct else exists from group having in intersect is join limit not on or order over partition select then union using values when where"
)

// asks reports whether text for sqlite3 only asks the database: one order, or
// statements of a small grammar. Tables that are files of the machine, and
// functions that are not known, are none of it, nor are comments.
func asks(text string) bool {
	text = strings.ToLower(strings.TrimSpace(text))
	if strings.HasPrefix(text, ".") {
		order, _, _ := strings.Cut(text, " ")
		return Has(sqliteOrders, order) && !strings.ContainsAny(text, "\n|")
	}
	for _, s := range [...]string{"fsdir", "zipfile", "sqlite_dbpage", "readfile", "writefile", "load_extension", "--", "/*"} {
		if strings.Contains(text, s) {
			return false
		}
	}
	bare, ok := unquoted(text)
	if !ok {
		return false
	}
	for s := range strings.SplitSeq(bare, ";") {
		word := strings.Fields(s)
		switch {
		case len(word) == 0:
		case word[0] == "pragma":
			name, _, _ := strings.Cut(strings.Join(word[1:], ""), "(")
			if strings.Contains(s, "=") || !Has(sqlitePragmas, name) {
				return false
			}
		case word[0] != "select" && word[0] != "values" || !computes(s):
			return false
		}
	}
	return true
}

// unquoted is a statement with a placeholder for each string and quoted name,
// which no parenthesis may follow: it would be a function's name.
func unquoted(text string) (bare string, ok bool) {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		end := text[i]
		switch end {
		case '[':
			end = ']'
		case '\'', '"', '`':
		default:
			b.WriteByte(text[i])
			continue
		}
		n := strings.IndexByte(text[i+1:], end)
		if n < 0 {
			return "", false
		}
		i += n + 1
		b.WriteByte('$')
	}
	return b.String(), true
}

// computes reports whether every parenthesis follows a known word or none.
func computes(s string) bool {
	for i := range len(s) {
		if s[i] != '(' {
			continue
		}
		before := strings.TrimRight(s[:i], " \t\n\r\f")
		name := before[strings.LastIndexFunc(before, func(r rune) bool {
			return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '_' && r != '$' && r < 0x80
		})+1:]
		if name != "" && !Has(sqliteFunctions, name) {
			return false
		}
	}
	return true
}
