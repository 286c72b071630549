package cmd

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/agentkit-go/agentkit/pkg/tool"
)

func helpRoot() (*app, *cobra.Command) {
	a := &app{variables: variables{func(string) string { return "" }, func() []string { return nil }}}
	root := a.root()
	a.add(root, true)
	return a, root
}

// TestFrontPage: the help of agentkit names every tool and command on one screen.
func TestFrontPage(t *testing.T) {
	_, root := helpRoot()
	page := frontPage(root)
	lines := strings.Split(strings.TrimSuffix(page, "\n"), "\n")
	if len(lines) > 24 {
		t.Errorf("%d lines are no screen:\n%s", len(lines), page)
	}
	words := strings.Fields(page)
	for _, c := range root.Commands() {
		if !slices.Contains(words, c.Name()) {
			t.Errorf("%s is not named", c.Name())
		}
	}
}

// TestTopics: every page is a topic, short, no wider than a terminal, and true about
// the names in it.
func TestTopics(t *testing.T) {
	a, root := helpRoot()
	var known []string
	for _, c := range root.Commands() {
		known = append(known, c.Name())
	}
	command := regexp.MustCompile(`(?m)^    (?:.*\| )?agentkit ([a-z]+)`)
	document := regexp.MustCompile(`docs/[a-z/-]+\.md`)
	var names []string
	for _, topic := range topics() {
		names = append(names, topic.name)
		text := topic.text(a, root)
		if n := strings.Count(text, "\n"); n < 8 || n > 60 {
			t.Errorf("%s has %d lines", topic.name, n)
		}
		for line := range strings.Lines(text) {
			if len(line) > 88 {
				t.Errorf("%s: too wide: %s", topic.name, line)
			}
		}
		for _, m := range command.FindAllStringSubmatch(text, -1) {
			if m[1] != "help" && !slices.Contains(known, m[1]) {
				t.Errorf("%s: there is no agentkit %s", topic.name, m[1])
			}
		}
		for _, m := range document.FindAllString(text, -1) {
			if _, err := os.Stat(filepath.Join("..", m)); err != nil {
				t.Errorf("%s: %v", topic.name, err)
			}
		}
	}
	for _, code := range tool.Codes() {
		if text := topics()[slices.Index(names, "results")].text(a, root); !strings.Contains(text, "\n    "+string(code)+" ") {
			t.Errorf("results: the code %s is missing", code)
		}
	}
	for _, key := range settingNames() {
		text := topics()[slices.Index(names, "environment")].text(a, root)
		if name := "AGENTKIT_" + strings.ToUpper(key); !strings.Contains(text, name+" ") {
			t.Errorf("environment: %s is missing", name)
		}
	}
	files, err := fs.Glob(pages, "help/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		if name := strings.TrimSuffix(filepath.Base(file), ".txt"); !slices.Contains(names, name) {
			t.Errorf("%s is no topic", file)
		}
	}
}

// TestExamples: every command that is no tool has examples, of its own name and flags.
func TestExamples(t *testing.T) {
	_, root := helpRoot()
	var look func(c *cobra.Command)
	look = func(c *cobra.Command) {
		for _, sub := range c.Commands() {
			look(sub)
		}
		if c.GroupID == "tools" || c == root || c.Name() == "help" {
			return
		}
		list := examplesOf(c)
		if len(list) == 0 {
			t.Errorf("%s has no examples", c.CommandPath())
		}
		for _, line := range list {
			_, line, ok := strings.Cut(line, "agentkit ")
			if ok = ok && strings.Contains(" "+line+" ", strings.TrimPrefix(c.CommandPath(), "agentkit")+" ") || strings.Contains(line, "completion "); !ok {
				t.Errorf("%s: no example of it: %s", c.CommandPath(), line)
			}
			for _, flag := range regexp.MustCompile(` --([a-z-]+)`).FindAllStringSubmatch(" "+line, -1) {
				if c.Flag(flag[1]) == nil && root.PersistentFlags().Lookup(flag[1]) == nil {
					t.Errorf("%s has no flag --%s", c.CommandPath(), flag[1])
				}
			}
		}
	}
	look(root)
}
