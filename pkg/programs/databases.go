package programs

import (
	"slices"
	"strings"
)

// escaped judges the shell commands in what a program with escapes is given: its
// words, and its input where that is known.
func (c *Call) escaped() {
	if c.Record.Escapes != "" {
		texts := c.Words[1:]
		if c.Shell.Stdin().Known {
			texts = append(slices.Clip(texts), Word{Text: c.Shell.Stdin().Text})
		}
		for _, x := range texts {
			if !x.Dynamic {
				c.escapedLines(x.Text, c.Record.Escapes)
				c.databaseFiles(x.Text)
			}
		}
		return
	}
	if c.Known == "m4" && c.Shell.Stdin().Known {
		c.macros(c.Shell.Stdin().Text)
	}
}

func (c *Call) escapedLines(text, marks string) {
	for line := range strings.SplitSeq(strings.ReplaceAll(text, ";", "\n"), "\n") {
		line = strings.TrimSpace(line)
		for mark := range strings.SplitSeq(marks, "|") {
			if rest, ok := strings.CutPrefix(line, mark); ok && strings.TrimSpace(rest) != "" {
				c.opaque("a line that runs a command")
				c.Shell.Text(Word{Text: strings.TrimSpace(rest)})
				break
			}
		}
	}
}

// databaseWrites and databaseReads are the orders to sqlite3 and psql that name
// a file.
const (
	databaseWrites = ` .output .once .save .backup .dump .log .excel .open .clone .trace .archive \o \out \w \write \s \lo_export `
	databaseReads  = ` .import .read .restore .load \i \ir \include \include_relative \lo_import `
)

// databaseFiles lists the files that lines for a database's shell name.
func (c *Call) databaseFiles(text string) {
	if c.Known != "sqlite3" && c.Known != "psql" {
		return
	}
	for line := range strings.SplitSeq(strings.ReplaceAll(text, ";", "\n"), "\n") {
		fields := strings.Fields(line)
		for i, f := range fields {
			next := ""
			if i+1 < len(fields) {
				next = strings.Trim(fields[i+1], `'"`)
			}
			switch low := strings.ToLower(f); {
			case next == "" || strings.HasPrefix(next, "-"):
			case i == 0 && Has(databaseWrites, low):
				c.does(Write, Word{Text: next})
			case i == 0 && Has(databaseReads, low):
				c.does(Read, Word{Text: next})
			case low == "program" && c.Known == "psql":
				_, cmd, _ := strings.Cut(line, "'")
				cmd, _, _ = strings.Cut(cmd, "'")
				c.Shell.Text(Word{Text: cmd})
			case low == "attach" && strings.EqualFold(next, "database") && i+2 < len(fields):
				c.does(Write, Word{Text: strings.Trim(fields[i+2], `'"`)})
			case low == "attach":
				c.does(Write, Word{Text: next})
			}
		}
	}
}

// macros judges syscmd(TEXT) and esyscmd(TEXT) of m4.
func (c *Call) macros(text string) {
	for {
		_, rest, ok := strings.Cut(text, "syscmd(")
		if !ok {
			return
		}
		c.opaque("a macro that runs a command")
		cmd, after, _ := strings.Cut(rest, ")")
		c.Shell.Text(Word{Text: strings.Trim(cmd, "`'")})
		text = after
	}
}

// database finds statements that drop or empty tables.
func (c *Call) database() {
	if c.Shell.Stdin().Set && !c.Shell.Stdin().Known {
		c.opaque("the statements come from its input")
	}
	for _, x := range append([]Word{{Text: c.Shell.Stdin().Text}}, c.Words[1:]...) {
		if metaCommand(x.Text) {
			c.opaque("a statement that runs, loads or writes something else")
		}
	}
	drops := slices.ContainsFunc(c.Words[1:], func(x Word) bool {
		up := strings.ToUpper(x.Text)
		return slices.ContainsFunc([]string{"DROP DATABASE", "DROP TABLE", "DROP SCHEMA", "DROP USER", "DROP ROLE", "TRUNCATE ", "DELETE FROM", "DROPDATABASE", ".DROP(", "DROP VIEW", "DELETEMANY"}, func(s string) bool { return strings.Contains(up, s) })
	})
	if !drops {
		return
	}
	why := "drops or empties a table"
	if c.Known == "sqlite3" {
		switch file, memory := c.sqliteFile(); {
		case memory:
			return
		case file:
			why = losesRows
		}
	}
	c.danger(why)
}

// sqliteFile reports whether a call of sqlite3 is about one file, which is all that changes, or about none. Beside a file
// that has a log of its own it is only both that can come back.
func (c *Call) sqliteFile() (file, memory bool) {
	words := c.Words[1:]
	for len(words) > 0 && Has("-readonly -batch -bail -echo -header -noheader -csv -json -line -list -column -html -quote -table -box -markdown -tabs -ascii", words[0].Text) && !words[0].Dynamic {
		words = words[1:]
	}
	if len(words) == 0 || words[0].Dynamic || strings.HasPrefix(words[0].Text, "-") || strings.Contains(words[0].Text, "file:") {
		return false, false
	}
	if words[0].Text == ":memory:" {
		return false, true
	}
	at := c.Shell.Resolve(words[0].Text)
	return len(at) == 1 && at[0].Named == "" && !c.Shell.Exists(at[0].Path+"-wal"), false
}

// metaCommand reports whether text for a database's shell leaves the database:
// \! and .shell run a command, others read and write files.
func metaCommand(text string) bool {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if name, _, _ := strings.Cut(line, " "); len(name) > 2 && name[0] == '.' && name[1] != '/' && name[1] != '.' &&
			!Has(".tables .schema .dump .mode .headers .header .indexes .indices .databases .dbinfo .fullschema .stats .width .timer .nullvalue .separator .version .help .quit .exit .changes .echo .bail .show", name) {
			return true
		}
	}
	up := strings.ToUpper(text)
	for _, s := range [...]string{`\!`, `\O`, `\I `, `\IR `, `\COPY`, `\G |`, `\W `, `\.`, `\E`, "PROGRAM", "LOAD_EXTENSION", "READFILE", "WRITEFILE", "FSDIR", "ZIPFILE", "EDIT(", "ATTACH", "OUTFILE", "DUMPFILE", "LOAD_FILE", "LOAD DATA", "SYSTEM ", "SOURCE ", "PG_READ", "LO_IMPORT", "LO_EXPORT"} {
		if strings.Contains(up, s) {
			return true
		}
	}
	return strings.HasPrefix(text, "|") || strings.Contains(up, "VACUUM") && strings.Contains(up, "INTO")
}

// databaseClients are the programs that change what a database on another host holds.
const databaseClients = "psql pg_restore pg_dump createdb dropdb createuser mysql mariadb mysqlimport mysqldump mysqladmin mongosh mongo mongoimport mongorestore mongodump redis-cli valkey-cli clickhouse-client cqlsh sqlcmd"

// databaseLooks begin a statement that changes nothing.
const databaseLooks = "SELECT SHOW EXPLAIN DESCRIBE DESC USE GET MGET KEYS SCAN PING INFO TTL TYPE EXISTS HGETALL HGET LRANGE SMEMBERS ZRANGE STRLEN LLEN DBSIZE"

// databaseHost lists the host of a database that is none of this machine's or its neighbours',
// and whether it is only looked at.
func (c *Call) databaseHost() {
	host := ""
	looks := Has("pg_dump mysqldump mongodump", c.Name)
	for i, x := range c.Words[1:] {
		t, next := x.Text, ""
		if i+2 < len(c.Words) && !c.Words[i+2].Dynamic {
			next = c.Words[i+2].Text
		}
		switch {
		case Has("-h --host -S", t):
			host = next
		case strings.HasPrefix(t, "--host="):
			host = t[len("--host="):]
		case strings.HasPrefix(t, "-h") && len(t) > 2 && !strings.HasPrefix(t, "--"):
			host = t[2:]
		case strings.Contains(t, "://"):
			_, host, _ = strings.Cut(t, "://")
			host, _, _ = strings.Cut(host, "/")
			host = host[strings.LastIndexByte(host, '@')+1:]
		case c.Name == "cqlsh" && host == "" && !strings.HasPrefix(t, "-") && strings.Contains(t, "."):
			host = t
		}
		for _, option := range []string{"-c", "-e", "-Q", "-q", "--command", "--execute", "--query"} {
			statement := next
			if s, glued := strings.CutPrefix(t, option+"="); glued {
				statement = s
			} else if t != option {
				continue
			}
			looks = onlyStatements(statement)
		}
	}
	if Has("redis-cli valkey-cli", c.Name) {
		looks = slices.ContainsFunc(c.Words[1:], func(x Word) bool { return oneOf(strings.ToUpper(x.Text), databaseLooks) })
	}
	host, _, _ = strings.Cut(host, ":")
	if strings.Contains(host, ".") && !strings.HasPrefix(host, "127.") && !strings.HasPrefix(host, "/") && host != "host.docker.internal" {
		c.reach(&reach{hosts: host, publishes: !looks})
	}
}

// onlyStatements reports whether each statement of a text changes nothing.
func onlyStatements(text string) bool {
	for s := range strings.SplitSeq(text, ";") {
		word, _, _ := strings.Cut(strings.TrimSpace(s), " ")
		if word != "" && !Has(databaseLooks, strings.ToUpper(word)) && !(strings.HasPrefix(word, `\d`) || word == `\l`) {
			return false
		}
	}
	up := strings.ToUpper(text)
	return !strings.Contains(up, "INTO") && !strings.Contains(up, "ANALYZE")
}
