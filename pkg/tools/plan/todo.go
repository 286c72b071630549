// Package plan holds the tools with which a session keeps track of its work.
package plan

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"time"

	"github.com/agentkit-go/agentkit/pkg/param"
	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/tool"
)

//go:embed todo.md
var todoDoc string

// Todo keeps a list.
var Todo = tool.Tool{
	Name:       "todo",
	Summary:    "read or replace the session's list of todos",
	Doc:        &todoDoc,
	New:        func() tool.Call { return new(todoCall) },
	Idempotent: true,

	Others: []string{"todowrite", "todoread", "writetodos", "updateplan", "tasks", "managetodolist"},

	Examples: []string{
		"agentkit todo",
		`agentkit todo --todos '[{"content":"write the test"}]'`,
	},

	Metadata: (*todoMeta)(nil),
}

type todoCall struct {
	Todos   []todoItem
	replace func() bool
}

// Params implements tool.Call.
func (t *todoCall) Params(p *param.Set) {
	list := param.Objects(p, &t.Todos, "todos", "the new list, in order").Alias("items", "plan")
	t.replace = list.Given
}

// A todoItem is one thing to do.
type todoItem struct {
	ID       string `json:"id"`
	Content  string `json:"content"`
	Status   string `json:"status" doc:"pending, in_progress, completed or cancelled"`
	Priority string `json:"priority" doc:"high, medium or low"`
}

// Params declares the members of an item.
func (i *todoItem) Params(p *param.Set) {
	i.Status, i.Priority = "pending", "medium"
	p.String(&i.ID, "id", "its name in later calls")
	p.String(&i.Content, "content", "what is to be done").Required().Alias("text", "title", "task", "step")
	p.String(&i.Status, "status", "how far it is").OneOf("pending", "in_progress", "completed", "cancelled").
		Alike("done", "completed", "complete", "completed", "finished", "completed", "doing", "in_progress", "in progress", "in_progress", "in-progress", "in_progress",
			"inprogress", "in_progress", "active", "in_progress", "started", "in_progress", "todo", "pending", "open", "pending", "not_started", "pending", "not-started", "pending",
			"canceled", "cancelled", "skipped", "cancelled", "dropped", "cancelled")
	p.String(&i.Priority, "priority", "how much it matters").OneOf("high", "medium", "low").Rare()
}

// todoFile is the list as the session keeps it.
const todoFile = "todo.json"

// A todoList is what todoFile holds.
type todoList struct {
	SessionID string     `json:"session_id"`
	UpdatedAt time.Time  `json:"updated_at"`
	Todos     []todoItem `json:"todos"`
}

// Needs implements tool.Call: the list belongs to the session.
func (t *todoCall) Needs(context.Context, *tool.Env) ([]policy.Access, error) {
	ids := map[string]int{}
	for i, item := range t.Todos {
		if strings.TrimSpace(item.Content) == "" {
			return nil, tool.Errorf(tool.BadInput, "todos[%d].content is empty", i).WithHint("say what is to be done, or leave the item out")
		}
		if j, twice := ids[item.ID]; twice && item.ID != "" {
			return nil, tool.Errorf(tool.BadInput, "todos[%d] and todos[%d] have the same id %q", j, i, item.ID).WithHint("give each item an id of its own")
		}
		ids[item.ID] = i
	}
	return nil, nil
}

type todoMeta struct {
	Pending    int        `json:"pending" doc:"how many are pending"`
	InProgress int        `json:"in_progress" doc:"and in progress"`
	Completed  int        `json:"completed" doc:"and completed"`
	Cancelled  int        `json:"cancelled" doc:"and cancelled"`
	Total      int        `json:"total" doc:"and there are in all"`
	SessionID  string     `json:"session_id" doc:"whose list it is"`
	UpdatedAt  *time.Time `json:"updated_at" doc:"null when nothing was ever written"`
	Todos      []todoItem `json:"todos" doc:"the list"`
}

// Run implements tool.Call.
func (t *todoCall) Run(ctx context.Context, env *tool.Env) (*tool.Result, error) {
	list := todoList{SessionID: env.Session.ID(), Todos: []todoItem{}}
	if !t.replace() {
		raw, err := env.Session.ReadFile(todoFile)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		if err == nil {
			if list, err = parseTodos(raw); err != nil {
				return nil, err
			}
		}
		return list.result(), nil
	}
	err := env.Session.Update(ctx, todoFile, func(old []byte) ([]byte, error) {
		before, err := parseTodos(old)
		if err != nil {
			before = todoList{} // a list that cannot be read is replaced, not kept
		}
		list.UpdatedAt = env.Now().UTC()
		list.Todos = named(t.Todos, before.Todos)
		return json.Marshal(list)
	})
	if err != nil {
		return nil, err
	}
	return list.result(), nil
}

func parseTodos(raw []byte) (todoList, error) {
	var list todoList
	if err := json.Unmarshal(raw, &list); err != nil {
		return list, tool.Errorf(tool.IO, "the list of todos is damaged: %w", err).WithHint("send the whole list again")
	}
	return list, nil
}

// named gives each item without an id the one that its content had before,
// else the next free number.
func named(items, before []todoItem) []todoItem {
	taken, known := map[string]bool{}, map[string]string{}
	for _, i := range items {
		taken[i.ID] = true
	}
	for _, i := range before {
		known[i.Content] = i.ID
	}
	out := make([]todoItem, len(items))
	next := 1
	for n, i := range items {
		if id := known[i.Content]; i.ID == "" && id != "" && !taken[id] {
			i.ID = id
		}
		for i.ID == "" {
			if id := strconv.Itoa(next); !taken[id] {
				i.ID = id
			}
			next++
		}
		taken[i.ID] = true
		out[n] = i
	}
	return out
}

func (l todoList) result() *tool.Result {
	meta := todoMeta{Total: len(l.Todos), SessionID: l.SessionID, Todos: l.Todos}
	if !l.UpdatedAt.IsZero() {
		meta.UpdatedAt = &l.UpdatedAt
	}
	var out strings.Builder
	for _, i := range l.Todos {
		mark := " "
		switch i.Status {
		case "pending":
			meta.Pending++
		case "in_progress":
			meta.InProgress++
			mark = ">"
		case "completed":
			meta.Completed++
			mark = "x"
		case "cancelled":
			meta.Cancelled++
			mark = "-"
		}
		fmt.Fprintf(&out, "[%s] %s: %s", mark, i.ID, i.Content)
		if i.Priority != "medium" {
			fmt.Fprintf(&out, " (%s)", i.Priority)
		}
		out.WriteByte('\n')
	}
	if meta.InProgress > 1 {
		fmt.Fprintf(&out, "\n%d items are in progress; keep one.\n", meta.InProgress)
	}
	if meta.Total == 0 {
		out.WriteString("nothing to do\n")
	}
	open := meta.Pending + meta.InProgress
	return &tool.Result{Title: fmt.Sprintf("%d of %d todos open", open, meta.Total), Output: out.String(), Metadata: meta}
}
