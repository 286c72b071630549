package cmd

import (
	"encoding/json"
	"maps"
	"path/filepath"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/agentkit-go/agentkit/pkg/safefile"
)

// An mcpClient is a program that MCP servers are made known to by a piece of its
// configuration.
type mcpClient struct {
	name  string
	file  string // where the piece belongs
	piece func(command string, args []string) any
	toml  bool
}

// mcpClients are those whose configuration is known. Sources: their own manuals.
func mcpClients() []mcpClient {
	stdio := func(key string, more members) func(string, []string) any {
		return func(command string, args []string) any {
			server := members{"command": command, "args": args}
			maps.Copy(server, more)
			return members{key: members{"agentkit": server}}
		}
	}
	typed := members{"type": "stdio"}
	return []mcpClient{
		{"claude-code", ".mcp.json of the project", stdio("mcpServers", typed), false},
		{"codex", "~/.codex/config.toml", stdio("mcp_servers", members{"tool_timeout_sec": mcpTimeout / 1000}), true},
		{"cursor", ".cursor/mcp.json of the project, or ~/.cursor/mcp.json", stdio("mcpServers", typed), false},
		{"vscode", ".vscode/mcp.json of the project", stdio("servers", typed), false},
		{"zed", "Zed's settings.json", stdio("context_servers", members{"source": "custom", "env": members{}}), false},
		{"opencode", "opencode.json of the project", func(command string, args []string) any {
			server := members{"type": "local", "command": append([]string{command}, args...), "enabled": true}
			return members{"$schema": "https://opencode.ai/config.json", "mcp": members{"agentkit": server}}
		}, false},
		{"gemini-cli", ".gemini/settings.json of the project, or ~/.gemini/settings.json", stdio("mcpServers", members{"timeout": mcpTimeout}), false},
	}
}

// mcpTimeout is more than the longest time limit of a command, in milliseconds.
const mcpTimeout = 660_000

// Members are those of an object.
type members map[string]any

func mcpClientNames() []string {
	var names []string
	for _, c := range mcpClients() {
		names = append(names, c.name)
	}
	return names
}

// block is the piece as its file has it.
func (c *mcpClient) block(command string, args []string) (string, error) {
	v := c.piece(command, args)
	if c.toml {
		var b strings.Builder
		enc := toml.NewEncoder(&b)
		err := enc.Encode(v)
		return b.String(), err
	}
	raw, err := json.MarshalIndent(v, "", "  ")
	return string(raw) + "\n", err
}

// cached are the directories in which programs keep packages that they run without
// installing them, with what they are run by.
var cached = [...][2]string{{"_npx", "npx"}, {"dlx", "pnpm dlx"}, {"archive-v0", "uvx"}, {"environments-v2", "uvx"}, {"go-build", "go run"}}

// lasting is the command by which a client starts this program in a year as well: where
// it lies in npx's cache that is npx. note says where none is known.
func lasting(self string, args []string) (command string, all []string, note string) {
	parts := strings.Split(filepath.ToSlash(self), "/")
	for i, part := range parts {
		if part == "_npx" && i+2 < len(parts) {
			if name := npxPackage(strings.Join(parts[:i+2], "/")); name != "" {
				return "npx", append([]string{"-y", name}, args...), ""
			}
		}
	}
	for _, part := range parts {
		for _, one := range cached {
			if part == one[0] || one[0] == "go-build" && strings.HasPrefix(part, "go-build") {
				return self, args, "this program lies in the cache of " + one[1] + ", which may be emptied: install it, and use the path of that"
			}
		}
	}
	return self, args, ""
}

// maxManifest bounds what is read of a package.json, in bytes.
const maxManifest = 1 << 20

// npxPackage is the package that npx has made a directory of its cache for; "" where
// that is not one.
func npxPackage(dir string) string {
	raw, err := safefile.ReadRegular(filepath.Join(filepath.FromSlash(dir), "package.json"), maxManifest)
	var made struct {
		Npx struct{ Packages []string } `json:"_npx"`
	}
	if err != nil || json.Unmarshal(raw, &made) != nil || len(made.Npx.Packages) != 1 || strings.ContainsAny(made.Npx.Packages[0], "/\\") && !strings.HasPrefix(made.Npx.Packages[0], "@") {
		return ""
	}
	return made.Npx.Packages[0]
}
