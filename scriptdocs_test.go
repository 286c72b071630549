package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// counting adds up what the results of a script's calls would show a model.
const counting = `local made, bytes, all = 0, 0, tools
local tools = setmetatable({}, {__index = function(_, name) return function(...)
  local r = all[name](...)
  made, bytes = made + 1, bytes + #r.output
  return r
end end})
local function uses()
%s
end
uses()
return {made, bytes}`

// TestUsesOfScript runs the scripts of docs/script.md on this repository and measures what
// they save. The table may differ by half from what is measured, since the sources
// change; -update writes it anew.
func TestUsesOfScript(t *testing.T) {
	const page = "docs/script.md"
	raw, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	text, dir := string(raw), t.TempDir()
	rows := regexp.MustCompile(`(?m)^\| (\D[^|]+) \| (\d+) \| ([\d,]+) \| ([\d,]+) \|$`).FindAllStringSubmatch(text, -1)
	if len(rows) < 3 {
		t.Fatalf("%d uses", len(rows))
	}
	for _, row := range rows {
		_, rest, ok := strings.Cut(text, "\n## "+row[1]+"\n\n")
		code := regexp.MustCompile(`^((    .*)?\n)+`).FindString(rest)
		if !ok || code == "" {
			t.Errorf("%s has no script", row[1])
			continue
		}
		c := exec.CommandContext(t.Context(), "agentkit", "script", "--json", "-")
		in, err := json.Marshal(map[string]string{"code": fmt.Sprintf(counting, code)})
		if err != nil {
			t.Fatal(err)
		}
		c.Stdin = strings.NewReader(string(in))
		c.Env = append(os.Environ(), "XDG_STATE_HOME="+filepath.Join(dir, "state"), "XDG_CONFIG_HOME="+filepath.Join(dir, "config"))
		out, err := c.Output()
		var r struct {
			Output   string
			Metadata struct{ Value [2]int }
		}
		if json.Unmarshal(out, &r) != nil || err != nil || r.Output == "" {
			t.Errorf("%s: %v: %.500s", row[1], err, out)
			continue
		}
		one := fmt.Sprintf("| %s | %d | %s | %s |", row[1], r.Metadata.Value[0], thousands(r.Metadata.Value[1]*10/42), thousands((len(code)+len(r.Output))*10/42))
		now := regexp.MustCompile(`\| (\d+) \| ([\d,]+) \| ([\d,]+) \|$`).FindStringSubmatch(one)
		for i := 1; i <= 3; i++ {
			was, is := plainNumber(row[i+1]), plainNumber(now[i])
			if !*update && (is*2 < was || was*2 < is) {
				t.Errorf("%s: %s stands for %s", page, row[0], one)
			}
		}
		if alone, script := plainNumber(now[2]), plainNumber(now[3]); script*5 > alone {
			t.Errorf("%s saves too little: %s", row[1], one)
		}
		t.Log(one)
		text = strings.Replace(text, row[0], one, 1)
	}
	if *update {
		if err := os.WriteFile(page, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func plainNumber(text string) int {
	n, _ := strconv.Atoi(strings.ReplaceAll(text, ",", ""))
	return n
}

func thousands(n int) string {
	if n < 1000 {
		return strconv.Itoa(n)
	}
	return thousands(n/1000) + fmt.Sprintf(",%03d", n%1000)
}
