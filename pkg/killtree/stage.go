package killtree

import "syscall"

// A Starter starts commands confined as the bytes of Options.Confine say.
type Starter interface {
	// Start starts the command in the stage's process, as
	// syscall.StartProcess does.
	Start(confine []byte, path string, argv []string, attr *syscall.ProcAttr) (pid int, err error)
}

// Stage is the first thing that main does: where args, the arguments without
// the program's name, ask for the stage, it becomes the stage, returns its
// exit status when everything it looked after has ended, and handled is true.
// c starts the commands that Options.Confine is given for; nil refuses them.
func Stage(args []string, c Confiner) (code int, handled bool) {
	if len(args) == 0 || args[0] != StageArg {
		return 0, false
	}
	return stage(args[1:], c), true
}
