package cmd

import (
	"errors"
	"slices"

	"github.com/agentkit-go/agentkit/pkg/dialect"
	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/tool"
)

// blame has an error about a setting name the file or variable that it stands in,
// where no flag has taken its place.
func (a *app) blame(key string, err error) error {
	from, ok := a.origins[key]
	if err == nil || !ok || from.value != a.value(key) {
		return err
	}
	e := *tool.AsError(err)
	e.Message = from.name + ": " + e.Message
	return e.WithHint("%s", from.fix)
}

// blamePolicy is blame for a policy that cannot be used: a file that was named, or a
// rule that stands in no file.
func (a *app) blamePolicy(err error) error {
	list, ok := errors.AsType[policy.Problems](err)
	switch {
	case !ok || len(list) == 0:
		return err
	case list[0].File == "":
		return a.blame("allow", err)
	case list[0].Line == 0 && slices.Contains(absolute(a.Policy), list[0].File):
		return a.blame("policy", err)
	}
	return err
}

// spoken is the dialect in which calls come; nil for our own names.
func (a *app) spoken() (*dialect.Dialect, error) {
	if a.Dialect == "" {
		return nil, nil
	}
	d, err := dialect.Find(a.Dialect)
	return d, a.blame("dialect", err)
}
