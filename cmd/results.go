package cmd

import (
	"encoding/json"
	"reflect"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agentkit-go/agentkit/pkg/param"
	"github.com/agentkit-go/agentkit/pkg/tool"
)

// A resultContract is everything that docs/results.md describes, for programs.
type resultContract struct {
	Schema  string                      `json:"$schema"`
	Version int                         `json:"version"`
	Tools   map[string]*param.Schema    `json:"tools"`
	Events  map[string]*param.Schema    `json:"events"`
	Details map[tool.Code]*param.Schema `json:"details"`           // of errors, by code; one that is missing has none
	Asked   *param.Schema               `json:"approval_required"` // the same of this code alone
	Ask     *param.Schema               `json:"ask_program"`       // what the program of --ask=cmd: reads
}

const schemaDialect = "https://json-schema.org/draft/2020-12/schema"

func (a *app) schemaCommand() *cobra.Command {
	c := a.toolsCommand()
	c.Use = "schema [TOOL]..."
	c.Short = "print the JSON Schemas of tools, or of their results"
	c.Long = "As agentkit tools; agentkit schema results prints the schemas of what tools return."
	c.AddCommand(&cobra.Command{
		Use:   "results [TOOL]",
		Short: "print the JSON Schema of results",
		Long: strings.TrimSpace(`
With TOOL, the schema of what its calls print. Without, one object: version, that
of the contract; tools, the schema of each tool's results; events, those of the
lines that -o events prints before the result; details, those of the details of
errors, by code; approval_required, that of the details of such an error; ask_program, that of what the program of --ask=cmd:
reads. docs/results.md says in words what they mean.`),
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: c.ValidArgsFunction,
		RunE: func(_ *cobra.Command, args []string) error {
			var answer any
			if len(args) == 1 {
				t, err := Tools.Find(args[0])
				if err != nil {
					return err
				}
				answer = results(t)
			} else {
				answer = contract()
			}
			raw, err := json.MarshalIndent(answer, "", "  ")
			if err != nil {
				return err
			}
			a.print(string(raw) + "\n")
			return nil
		},
	})
	return c
}

func contract() resultContract {
	c := resultContract{
		schemaDialect, tool.ResultVersion,
		map[string]*param.Schema{},
		map[string]*param.Schema{},
		tool.DetailSchemas(Tools), tool.SchemaOf(reflect.TypeFor[tool.ApprovalDetails]()), tool.SchemaOf(reflect.TypeFor[programRequest]()),
	}
	for _, t := range Tools {
		c.Tools[t.Name] = results(t)
	}
	for _, e := range tool.EventSchemas() {
		c.Events[e.Name] = e.Schema
	}
	return c
}
