//go:build linux && (amd64 || arm64)

package sandbox

// testProgram is what the test's own program does when a test starts it with
// arguments of its own.
func testProgram(args []string) (code int, handled bool) {
	switch args[0] {
	case labArg:
		return runLab(args[1:]), true
	case attackArg:
		return runAttacks(args[1:]), true
	case raceArg:
		return runRace(args[1:]), true
	case userArg:
		return runAs(args[1:]), true
	case nestedArg:
		return runNested(args[1:]), true
	}
	return 0, false
}
