package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/agentkit-go/agentkit/cmd"
	"github.com/agentkit-go/agentkit/pkg/dialect"
)

//go:generate go test -run ^(TestDocs|TestGenerated)$ . -update

// TestGenerated checks that what is made from the tools is as they say.
func TestGenerated(t *testing.T) {
	for _, tool := range cmd.Tools {
		if _, err := os.Stat(filepath.Join("testdata", "script", tool.Name+".txtar")); err != nil {
			t.Fatalf("every tool has a script: %v", err)
		}
		examples, err := os.ReadFile(filepath.Join("testdata", "examples", tool.Name+".md"))
		if err != nil {
			t.Fatalf("every tool has examples, with what they print: %v", err)
		}
		fresh(t, filepath.Join("docs", "tools", tool.Name+".md"), cmd.Manual(tool, string(examples)))
	}
	fresh(t, "docs/commands.md", cmd.Reference())
	fresh(t, "docs/dialects.md", []byte(dialect.Page()))
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		fresh(t, "completions/agentkit."+shell, output(t, "completion", shell))
	}
	for _, format := range []string{"json", "anthropic", "openai", "openai-strict", "openai-responses", "gemini", "mcp"} {
		fresh(t, "testdata/tools/"+format+".json", output(t, "tools", "--format", format))
	}
	for _, name := range dialect.Names() {
		if name != "openloaf" { // whose names are those of the platform
			fresh(t, "testdata/tools/dialect_"+name+".json", output(t, "tools", "--dialect", name, "--format", "json"))
		}
	}
	fresh(t, "testdata/schema.json", output(t, "tools", "--format", "json"))
}

func output(t *testing.T, args ...string) []byte {
	t.Helper()
	raw, err := printedBy(args...)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// printedBy is what a command prints.
func printedBy(args ...string) ([]byte, error) {
	var out, errs bytes.Buffer
	if code := cmd.Main(context.Background(), func() {}, args, nil, &out, &errs); code != 0 {
		return nil, fmt.Errorf("agentkit %v: exit %d\n%s%s", args, code, out.Bytes(), errs.Bytes())
	}
	return out.Bytes(), nil
}

func fresh(t *testing.T, name string, want []byte) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, _ := os.ReadFile(name); !bytes.Equal(got, want) {
		t.Errorf("%s is stale; run go generate", name)
	}
}
