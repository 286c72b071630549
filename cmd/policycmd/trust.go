package policycmd

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/tool"
)

func (h Host) trustCommand() *cobra.Command {
	var list, remove bool
	c := &cobra.Command{
		Use:   "trust",
		Short: "let the allow rules of this repository's policy count",
		Long: strings.TrimSpace(`
A repository's policy only tightens until you trust its content. Any change of
the file ends the trust. Read the file first: it decides what runs unasked.`),
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := h.Person(); err != nil {
				return err
			}
			store := h.Trust()
			if store == nil {
				return tool.Errorf(tool.BadInput, "there is no place to remember it").WithHint("set HOME or XDG_CONFIG_HOME")
			}
			if list {
				return h.trustList(store)
			}
			env, err := h.Env(c.Context())
			if err != nil {
				return err
			}
			for _, f := range env.Policy.Files() {
				if f.Layer != policy.Project {
					continue
				}
				verb, change := "trusted", func() error { return store.Add(c.Context(), f.Path, f.SHA256, time.Now()) }
				if remove {
					verb, change = "no longer trusted", func() error { return store.Remove(c.Context(), f.Path) }
				} else if err := h.asRead(env, &f); err != nil {
					return err
				}
				if h.DryRun() {
					verb = "would be " + verb
				} else if err := change(); err != nil {
					return err
				}
				h.Emit(&tool.Result{Title: verb + " " + f.Path, Output: fmt.Sprintf("%s: %s (sha256 %s)\n", verb, f.Path, f.SHA256), Metadata: map[string]string{"path": f.Path, "sha256": f.SHA256}})
				return nil
			}
			return tool.Errorf(tool.NotFound, "this repository has no policy of its own").WithHint("agentkit policy init writes one")
		},
	}
	c.Flags().BoolVar(&list, "list", false, "print what is trusted")
	c.Flags().BoolVar(&remove, "remove", false, "end the trust")
	return c
}

// asRead reports, as an error, that the file may not be the one that the person has read: a
// command that runs may be able to change it, and put back what was there as soon as it is trusted.
// One that has just ended had it put back, so that it is another file now.
func (h Host) asRead(env *tool.Env, f *policy.File) error {
	if h.Busy(env) {
		return tool.Errorf(tool.Conflict, "a command of an agent's runs that may be able to change %s", tool.VisibleName(f.Path)).
			WithHint("wait for its end, or end it: agentkit jobs lists those that go on; then read the file again")
	}
	if same, err := f.Same(); err != nil || !same {
		return tool.Errorf(tool.Conflict, "%s has just been changed", tool.VisibleName(f.Path)).WithHint("read it again")
	}
	return nil
}

func (h Host) trustList(store *policy.TrustStore) error {
	all, err := store.List()
	if err != nil {
		return err
	}
	var b strings.Builder
	for _, t := range all {
		fmt.Fprintf(&b, "%s sha256 %s since %s\n", t.Path, t.SHA256, t.Time.Format(time.DateOnly))
	}
	h.Emit(&tool.Result{Title: fmt.Sprintf("%d trusted", len(all)), Output: b.String(), Metadata: map[string]any{"trusted": append([]policy.Trust{}, all...)}})
	return nil
}
