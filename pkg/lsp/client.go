package lsp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"time"

	"github.com/agentkit-go/agentkit/pkg/job"
	"github.com/agentkit-go/agentkit/pkg/session"
)

// ErrGone says that a keeper has ended without an answer.
var ErrGone = errors.New("the language server has ended")

// Tell is Ask for what needs no answer. It does not start the server.
func Tell(ctx context.Context, j *job.Job, q Request) error {
	q.ID = session.NewID("q")
	raw, err := json.Marshal(q)
	if err != nil {
		return err
	}
	return j.Input(ctx, append(raw, '\n'), nil, false)
}

// slack is what an answer may take beside the time that the server was given.
const slack = 3 * time.Second

// Ask asks the keeper that is a job. What the server says in time counts; an Answer that
// is Late is none.
func Ask(ctx context.Context, j *job.Job, q Request) (*Answer, error) {
	q.ID = session.NewID("q")
	raw, err := json.Marshal(q)
	if err != nil {
		return nil, err
	}
	i, err := j.Info()
	if err != nil {
		return nil, err
	}
	from := i.Total
	if err := j.Input(ctx, append(raw, '\n'), nil, false); err != nil {
		if errors.Is(err, job.ErrEnded) || errors.Is(err, job.ErrNoInput) {
			err = ErrGone
		}
		return nil, err
	}
	limited, cancel := context.WithTimeout(ctx, time.Duration(q.WaitMS)*time.Millisecond+slack)
	defer cancel()
	i, err = j.Wait(limited, job.WaitFor{Until: regexp.MustCompile(`^\{"done":"` + q.ID + `"\}$`), From: from})
	switch {
	case err != nil:
		return nil, err
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case i.Found == nil && !i.Alive():
		return nil, ErrGone
	case i.Found == nil:
		return &Answer{ID: q.ID, Late: true}, nil
	}
	return find(ctx, j, from, q.ID)
}

// maxParts bounds the values of an answer, each of which may take more room than its text.
const maxParts = 1 << 20

// find reads the answer of an id from what the keeper has printed from a place on.
func find(ctx context.Context, j *job.Job, from int64, id string) (*Answer, error) {
	begin := []byte(`{"id":"` + id + `"`)
	var part []byte
	for {
		c, err := j.Read(ctx, job.Query{Offset: from})
		if err != nil {
			return nil, err
		}
		from, part = c.Next, append(part, c.Data...)
		for {
			line, rest, whole := bytes.Cut(part, []byte("\n"))
			if !whole {
				break
			}
			if part = rest; bytes.HasPrefix(line, begin) {
				if bytes.Count(line, []byte(",")) > maxParts {
					return nil, fmt.Errorf("its answer has more than %d parts", maxParts)
				}
				a := new(Answer)
				if err := json.Unmarshal(line, a); err != nil {
					return nil, fmt.Errorf("reading the answer of a language server: %w", err)
				}
				return a, nil
			}
		}
		if !c.More || len(part) > maxAnswer+1<<20 {
			return nil, ErrGone
		}
	}
}

// Running finds the keeper of a server among the jobs of a session; nil for none. Those
// that have ended are removed.
func Running(reg *job.Registry, s *Server, root string) (*job.Job, error) {
	list, err := reg.List()
	if len(list) == 0 {
		return nil, err
	}
	for _, i := range list {
		if !s.keeps(&i, root) {
			continue
		}
		if i.Alive() {
			return reg.Open(i.ID)
		}
		_ = reg.Remove(i.ID)
	}
	return nil, nil
}

// keeps reports whether a job is, or was, the server's keeper.
func (s *Server) keeps(i *job.Info, root string) bool {
	return len(i.Argv) == 3 && i.Argv[1] == WorkArg && i.Argv[2] == s.Name && i.Dir == root
}

// Argv is what starts a keeper of the server: self is this program.
func (s *Server) Argv(self string) []string { return []string{self, WorkArg, s.Name} }

// Command is what starts the server itself.
func (s *Server) Command(program string) []string { return append([]string{program}, s.Args...) }
