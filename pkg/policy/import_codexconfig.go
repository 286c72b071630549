package policy

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// codexConfig is what matters of Codex's config.toml.
type codexConfig struct {
	Approval any    `toml:"approval_policy"` // a word, or a table of them
	Sandbox  string `toml:"sandbox_mode"`
	Write    struct {
		Roots         []string `toml:"writable_roots"`
		Network       bool     `toml:"network_access"`
		NoSlashTmp    bool     `toml:"exclude_slash_tmp"`
		NoTmpVariable bool     `toml:"exclude_tmpdir_env_var"`
	} `toml:"sandbox_workspace_write"`
	Search any `toml:"web_search"` // disabled, cached or live; once a bool in tools
	Tools  struct {
		Search any `toml:"web_search"`
	}
	Environment struct {
		Inherit string
		Exclude []string
		Only    []string `toml:"include_only"`
	} `toml:"shell_environment_policy"`
	Profile            string
	Profiles           map[string]codexConfig
	DefaultPermissions string         `toml:"default_permissions"`
	Permissions        map[string]any // profiles of permissions, which are not read
	Model              string
}

// codexSettings reads config.toml: how commands are confined, and when Codex asks.
func (im *importer) codexSettings(data []byte) error {
	var c codexConfig
	if err := toml.NewDecoder(bytes.NewReader(data)).Decode(&c); err != nil {
		return err
	}
	if c.Approval == nil && c.Sandbox == "" && c.Search == nil && c.Model == "" && c.Profiles == nil && c.Permissions == nil && c.DefaultPermissions == "" {
		return ErrForeign
	}
	for name := range c.Profiles {
		if name != c.Profile {
			im.note("profiles.%s: not carried over; it is not the one that profile names", name)
		}
	}
	slices.Sort(im.notes)
	if chosen, ok := c.Profiles[c.Profile]; ok {
		if chosen.Approval != nil {
			c.Approval = chosen.Approval
		}
		if chosen.Sandbox != "" {
			c.Sandbox = chosen.Sandbox
		}
		if chosen.Search != nil {
			c.Search = chosen.Search
		}
	}
	if c.Permissions != nil || c.DefaultPermissions != "" {
		im.note("permissions: such profiles are not read, so what they keep closed is not known: nothing may be written")
		c.Sandbox = "read-only"
	}
	never := im.codexApproval(c.Approval)
	im.codexSandbox(&c, never)
	im.codexSearch(&c)
	im.codexEnvironment(&c)
	return nil
}

// codexApproval says what is asked about; never, that Codex asks about nothing and
// refuses what its sandbox does not hold.
func (im *importer) codexApproval(value any) (never bool) {
	switch value {
	case nil, "on-request", "on-failure":
	case "never":
		im.note("approval_policy never: what Codex refuses is asked about here; where nobody can be asked, that is a refusal too")
		return true
	default:
		if value != "untrusted" {
			im.note("approval_policy %v: not known here, so every command and every change asks", value)
		}
		im.add(foreignRule{list: Ask, text: "bash(*)", except: []string{"bash(readonly)"}, source: "approval_policy"})
		im.add(foreignRule{list: Ask, text: "edit", source: "approval_policy"})
	}
	return false
}

// codexSandbox says what may be written and which hosts be reached.
func (im *importer) codexSandbox(c *codexConfig, never bool) {
	network := false
	switch c.Sandbox {
	case "workspace-write":
		network = c.Write.Network
		im.codexRoots(c)
	case "danger-full-access":
		im.note("sandbox_mode danger-full-access: not carried over; where it is meant, write profile: open, or container in a container")
	case "", "read-only":
		im.profile = ReadOnlyRoot
		if c.Sandbox == "" {
			im.note("no sandbox_mode: Codex writes nothing before a directory is trusted; write profile: workspace where yours are")
		}
	default:
		im.profile = ReadOnlyRoot
		im.note("sandbox_mode %s: not known here, so nothing may be written", c.Sandbox)
	}
	switch {
	case network:
		im.sections = append(im.sections, "network: {default: allow}")
	case never:
		im.sections = append(im.sections, "network: {default: deny}")
		im.add(foreignRule{list: Deny, text: "fetch", source: "no network_access, and nothing is asked about"})
	default:
		im.add(foreignRule{list: Ask, text: "fetch", source: "no network_access"})
	}
}

// codexRoots are the directories beside the project that may be written.
func (im *importer) codexRoots(c *codexConfig) {
	for _, root := range c.Write.Roots {
		if !strings.HasPrefix(root, "/") && !strings.HasPrefix(root, "~/") || strings.ContainsAny(root, "*?[]{}!\\\n") || strings.Contains(root, "..") || strings.Trim(root, "/~") == "" {
			im.note("writable_roots %s: cannot be said here, so it is not allowed", root)
			continue
		}
		im.add(foreignRule{list: Allow, text: "edit(" + strings.TrimRight(root, "/") + "/**)", source: "writable_roots"})
	}
	var closed []string
	if c.Write.NoSlashTmp {
		closed = append(closed, "/tmp/**")
	}
	if c.Write.NoTmpVariable {
		closed = append(closed, "/tmp/**", "/var/tmp/**", "/var/folders/**", "/private/var/folders/**")
		im.note("exclude_tmpdir_env_var: the usual places of TMPDIR ask; add a rule where yours is another")
	}
	for _, pattern := range closed {
		im.add(foreignRule{list: Ask, text: "edit(" + pattern + ")", source: "temporary directories"})
	}
}

// codexSearch is about searches of the web, which Codex makes in a stored copy of it.
func (im *importer) codexSearch(c *codexConfig) {
	value := c.Search
	if value == nil {
		value = c.Tools.Search
	}
	switch value {
	case "live", true:
		im.add(foreignRule{list: Allow, text: "websearch", source: "web_search"})
	case "disabled", false:
		im.add(foreignRule{list: Deny, text: "websearch", source: "web_search"})
	default:
		im.add(foreignRule{list: Ask, text: "websearch", source: "web_search is not live"})
	}
}

// codexEnvironment is about the variables that commands get.
func (im *importer) codexEnvironment(c *codexConfig) {
	e := &c.Environment
	if e.Inherit != "" && e.Inherit != "all" || len(e.Only) > 0 {
		im.note("shell_environment_policy: commands get all variables here but secrets and what env: {drop: […]} names; start agentkit with only those that they may have")
	}
	var drop []string
	for _, p := range e.Exclude {
		if !isVariableName(strings.ReplaceAll(p, "*", "_")) {
			im.note("shell_environment_policy.exclude %s: cannot be said here; name the variables in env: {drop: […]}", p)
			continue
		}
		for _, spelled := range []string{p, strings.ToUpper(p), strings.ToLower(p)} { // to Codex they are the same
			if quoted := jsonText(spelled); !slices.Contains(drop, quoted) {
				drop = append(drop, quoted)
			}
		}
	}
	if len(drop) > 0 {
		im.sections = append(im.sections, fmt.Sprintf("env: {drop: [%s]}", strings.Join(drop, ", ")))
	}
}
