package policy

// A Profile is a named starting point: what happens where no rule speaks.
type Profile uint8

// The profiles.
const (
	Workspace    Profile = iota // changes stay inside the root; the default
	ReadOnlyRoot                // "readonly": nothing changes
	Open                        // what the user might do, with questions
	ArgvOnly                    // "argv": listed programs only, no shell
	Container                   // for a disposable container or virtual machine, which confines already
)

// Profiles returns the names of the profiles.
func Profiles() []string {
	return []string{"workspace", "readonly", "open", "argv", "container"}
}

// String returns the profile's name.
func (p Profile) String() string { return Profiles()[min(p, Container)] }

func parseProfile(s string) (Profile, bool) {
	for i, name := range Profiles() {
		if s == name {
			return Profile(i), true
		}
	}
	return Workspace, false
}

// A cell is a row of the profile table.
type cell uint8

const (
	readInside cell = iota
	readSecret
	readTemp
	readSystem
	readOutside
	readSecretOutside
	readOpaque
	writeInside
	writeSensitive
	writeProtected
	writeTemp
	writeOutside
	commandOutside
	writeOpaque
	hardLink
	runReadOnly
	runKnown
	runUnknown
	runDangerous
	setEnv
	netCommand
	netPublish
	netLoopback
	portPublish
	netPublic
	netPrivate
	useTool
	cells
)

// A mode is a verdict that may depend on whether something holds commands.
type mode uint8

const (
	deny mode = iota
	ask
	allow
	held // allow where the sandbox, or something outside, holds what really happens; else ask
)

func (m mode) at(holds bool) Verdict {
	switch {
	case m == deny:
		return Deny
	case m == allow, m == held && holds:
		return Allow
	}
	return Ask
}

// profileTable holds the profiles' answers, in the order of Profiles.
var profileTable = [cells]struct {
	name  string
	modes [5]mode // workspace, readonly, open, argv, container
}{
	readInside:        {"reading inside the root", [5]mode{allow, allow, allow, allow, allow}},
	readSecret:        {"reading a secret inside the root", [5]mode{ask, ask, allow, ask, allow}},
	readTemp:          {"reading in a temporary directory", [5]mode{allow, ask, allow, deny, allow}},
	readSystem:        {"a command reading system files", [5]mode{allow, allow, allow, deny, allow}},
	readOutside:       {"reading outside the root", [5]mode{ask, ask, allow, deny, allow}},
	readSecretOutside: {"reading a secret outside the root", [5]mode{deny, deny, ask, deny, deny}},
	readOpaque:        {"reading what is not known before it runs", [5]mode{held, ask, allow, deny, allow}},
	writeInside:       {"writing inside the root", [5]mode{allow, deny, allow, allow, allow}},
	writeSensitive:    {"writing what others run or trust", [5]mode{ask, deny, allow, ask, allow}},
	writeProtected:    {"writing a protected file", [5]mode{deny, deny, ask, deny, deny}},
	writeTemp:         {"writing in a temporary directory", [5]mode{allow, deny, allow, deny, allow}},
	writeOutside:      {"writing outside the root", [5]mode{deny, deny, ask, deny, allow}},
	commandOutside:    {"a command writing outside the root", [5]mode{ask, deny, ask, deny, allow}},
	writeOpaque:       {"writing what is not known before it runs", [5]mode{held, deny, held, deny, allow}},
	hardLink:          {"a file with a second name somewhere", [5]mode{ask, ask, allow, ask, allow}},
	runReadOnly:       {"a read-only command", [5]mode{allow, allow, allow, deny, allow}},
	runKnown:          {"a known command", [5]mode{allow, deny, allow, deny, allow}},
	runUnknown:        {"an unknown or opaque command", [5]mode{held, deny, held, deny, allow}},
	runDangerous:      {"a dangerous command", [5]mode{ask, deny, ask, deny, allow}},
	setEnv:            {"an assignment that changes how programs run", [5]mode{held, deny, held, deny, allow}},
	netCommand:        {"network in a command", [5]mode{ask, deny, allow, deny, allow}},
	netPublish:        {"a command that changes something at a host", [5]mode{ask, deny, ask, ask, ask}},
	netLoopback:       {"this machine's loopback in a command", [5]mode{allow, allow, allow, allow, allow}},
	portPublish:       {"publishing a port to this machine", [5]mode{ask, deny, allow, deny, allow}},
	netPublic:         {"fetching from a public host", [5]mode{allow, ask, allow, ask, allow}},
	netPrivate:        {"fetching from a host that is not public", [5]mode{deny, deny, ask, deny, deny}},
	useTool:           {"a tool that touches nothing else", [5]mode{allow, allow, allow, allow, allow}},
}

// A setting is the merged answer of one cell, and who gave it.
type setting struct {
	verdict Verdict
	rule    string
	file    string
	line    int
	layer   Layer  // BuiltIn: nobody chose it
	host    bool   // the machine chose it for callers from elsewhere: none of their rules lifts it
	why     string // where more is to be said than that no rule matches
}

func (s *setting) decision(why string) Decision {
	return Decision{Verdict: s.verdict, Rule: s.rule, File: s.file, Line: s.line, Layer: s.layer, Why: why, Default: true}
}

// profileSetting is the answer of a profile for one cell.
func profileSetting(p Profile, c cell, holds bool) setting {
	return setting{verdict: profileTable[c].modes[p].at(holds), rule: "profile " + p.String() + ": " + profileTable[c].name}
}

// put merges one setting over what earlier layers gave. A deny that somebody
// chose stays; what only tightens never loosens.
func (s *setting) put(next setting, tightenOnly bool) {
	chosenDeny := s.layer != BuiltIn && s.verdict == Deny
	if chosenDeny || tightenOnly && next.verdict >= s.verdict {
		return
	}
	*s = next
}

// lifts reports whether an allow rule of a layer, or a grant for this call
// alone, may go beyond the setting.
func (s *setting) lifts(r *rule) bool {
	switch {
	case s.verdict != Deny, s.layer == BuiltIn, s.layer == r.layer && !s.host:
		return true
	}
	return r.grant && s.layer > Machine
}
