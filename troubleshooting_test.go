package main

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/agentkit-go/agentkit/pkg/tool"
)

// TestTroubleshooting checks that docs/troubleshooting.md has a section for every error
// code, and that the commands in it do end with that code.
func TestTroubleshooting(t *testing.T) {
	t.Parallel()
	long(t)
	raw, err := os.ReadFile("docs/troubleshooting.md")
	if err != nil {
		t.Fatal(err)
	}
	p := newPlace(t)
	p.env = append(p.env, "AGENTKIT_OUTPUT=json")
	for _, code := range tool.Codes() {
		_, section, ok := strings.Cut(string(raw), "\n### "+string(code)+"\n")
		if !ok {
			t.Errorf("there is no section for %s", code)
			continue
		}
		section = regexp.MustCompile(`(?s)\n##+ .*`).ReplaceAllString(section, "\n")
		var printed strings.Builder
		for _, block := range consoleBlock.FindAllStringSubmatch(section, -1) {
			for _, command := range regexp.MustCompile(`(?m)^\$ (.*)$`).FindAllStringSubmatch(block[1], -1) {
				out, _ := p.shell(t, command[1])
				printed.WriteString(out)
			}
		}
		if code != tool.Internal && !strings.Contains(printed.String(), `"error":{"code":"`+string(code)+`"`) {
			t.Errorf("the commands for %s print\n%s", code, printed.String())
		}
	}
}
