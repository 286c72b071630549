package killtree

// Stage is the first thing that main does: where args, the arguments without
// the program's name, ask for the stage, it becomes the stage, returns its
// exit status when everything it looked after has ended, and handled is true.
func Stage(args []string) (code int, handled bool) {
	if len(args) == 0 || args[0] != StageArg {
		return 0, false
	}
	return stage(args[1:]), true
}
