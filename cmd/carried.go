package cmd

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"path"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/tool"
)

// A carried is what goes along with calls that are made at another place: the settings
// and the policy of the caller, in the place of those that are found there. No variable
// and no other file does.
type carried struct {
	Root      string           `json:"root"` // "" for where the shell there begins
	Allow     []string         `json:"allow"`
	Profile   string           `json:"profile"`
	Session   string           `json:"session"`
	Dialect   string           `json:"dialect"`
	Sandbox   string           `json:"sandbox"`
	Fork      string           `json:"fork"`
	DryRun    bool             `json:"dry_run"`
	MaxLines  int              `json:"max_lines"`
	MaxBytes  int              `json:"max_bytes"`
	MaxTokens int              `json:"max_tokens"`
	Only      []string         `json:"only"` // the tools that may be called; null for all
	Policy    []policy.Carried `json:"policy"`
}

// dir is where, in a session's state, the files of the policy lie. Their content is in its
// name: jobs that were begun with another policy keep theirs.
func (c *carried) dir() string {
	h := sha256.New()
	for _, f := range c.Policy {
		sum := sha256.Sum256(f.Text)
		h.Write(sum[:])
		_, _ = io.WriteString(h, f.Name+"\n")
	}
	return path.Join("caller", hex.EncodeToString(h.Sum(nil)[:16]))
}

// keep writes the files of the policy to where the policy is loaded from.
func (c *carried) keep(ctx context.Context, env *tool.Env) error {
	for _, f := range c.Policy {
		as, _, _ := strings.Cut(f.Name, "/")
		if as != "machine" && as != "user" && as != "file" {
			return tool.Errorf(tool.BadInput, "there is no place for a policy %q", f.Name).WithHint("use the same version of agentkit on both sides")
		}
		if err := env.Session.WriteFile(ctx, path.Join(c.dir(), f.Name), f.Text); err != nil {
			return err
		}
	}
	return nil
}
