package cmd

import "github.com/agentkit-go/agentkit/pkg/tool"

// Tools lists every tool, in the order of the manual.
var Tools = []*tool.Tool{
	bashTool,
	outputTool,
	inputTool,
	killTool,
	jobsTool,
	readTool,
	writeTool,
	editTool,
	patchTool,
	undoTool,
	lsTool,
	globTool,
	grepTool,
	outlineTool,
	todoTool,
}
