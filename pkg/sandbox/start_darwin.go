package sandbox

import "os"

// seatbelt is macOS's own program to confine another.
const seatbelt = "/usr/bin/sandbox-exec"

// wrapped is the program and its words as seatbelt starts them.
func (c *Config) wrapped(path string, argv []string) (string, []string) {
	return seatbelt, append([]string{seatbelt, "-p", c.Seatbelt(), path}, argv[min(1, len(argv)):]...)
}

func probe() Enforced {
	const gate = "L2: macOS lets no program watch another's program starts"
	if _, err := os.Stat(seatbelt); err != nil {
		return Enforced{Missing: []string{gate, "L1: " + err.Error()}}
	}
	return Enforced{Level: L1, Mechanisms: []string{"sandbox-exec"}, Missing: []string{gate}}
}
