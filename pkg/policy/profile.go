package policy

// A Profile is a named starting point: what happens where no rule speaks.
type Profile uint8

// The profiles.
const (
	Workspace    Profile = iota // changes stay inside the root; the default
	ReadOnlyRoot                // "readonly": nothing changes
	Open                        // what the user might do, with questions
	ArgvOnly                    // "argv": listed programs only, no shell
)

// Profiles returns the names of the profiles.
func Profiles() []string { return []string{"workspace", "readonly", "open", "argv"} }

// String returns the profile's name.
func (p Profile) String() string { return Profiles()[min(p, ArgvOnly)] }

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
	netPublic
	netPrivate
	useTool
	cells
)

// A mode is a verdict that may depend on the sandbox level.
type mode uint8

const (
	deny mode = iota
	ask
	allow
	allow2 // allow from level 2 on, else ask
	allow3 // allow at level 3, else ask
)

func (m mode) at(level int) Verdict {
	switch {
	case m == deny:
		return Deny
	case m == allow, m == allow2 && level >= 2, m == allow3 && level >= 3:
		return Allow
	}
	return Ask
}

// profileTable holds the profiles' answers, in the order of Profiles.
var profileTable = [cells]struct {
	name  string
	modes [4]mode // workspace, readonly, open, argv
}{
	readInside:        {"reading inside the root", [4]mode{allow, allow, allow, allow}},
	readSecret:        {"reading a secret inside the root", [4]mode{ask, ask, allow, ask}},
	readTemp:          {"reading in a temporary directory", [4]mode{allow, ask, allow, deny}},
	readSystem:        {"a command reading system files", [4]mode{allow, allow, allow, deny}},
	readOutside:       {"reading outside the root", [4]mode{ask, ask, allow, deny}},
	readSecretOutside: {"reading a secret outside the root", [4]mode{deny, deny, ask, deny}},
	readOpaque:        {"reading what is not known before it runs", [4]mode{allow3, ask, allow, deny}},
	writeInside:       {"writing inside the root", [4]mode{allow, deny, allow, allow}},
	writeSensitive:    {"writing what others run or trust", [4]mode{ask, deny, allow, ask}},
	writeProtected:    {"writing a protected file", [4]mode{deny, deny, ask, deny}},
	writeTemp:         {"writing in a temporary directory", [4]mode{allow, deny, allow, deny}},
	writeOutside:      {"writing outside the root", [4]mode{deny, deny, ask, deny}},
	writeOpaque:       {"writing what is not known before it runs", [4]mode{allow3, deny, ask, deny}},
	hardLink:          {"a file with a second name somewhere", [4]mode{ask, ask, allow, ask}},
	runReadOnly:       {"a read-only command", [4]mode{allow, allow, allow, deny}},
	runKnown:          {"a known command", [4]mode{allow2, deny, allow, deny}},
	runUnknown:        {"an unknown or opaque command", [4]mode{allow3, deny, ask, deny}},
	runDangerous:      {"a dangerous command", [4]mode{ask, deny, ask, deny}},
	setEnv:            {"an assignment that changes how programs run", [4]mode{allow3, deny, ask, deny}},
	netCommand:        {"network in a command", [4]mode{ask, deny, allow, deny}},
	netPublish:        {"a command that changes something at a host", [4]mode{ask, deny, ask, ask}},
	netLoopback:       {"this machine's loopback in a command", [4]mode{allow, allow, allow, allow}},
	netPublic:         {"fetching from a public host", [4]mode{allow, ask, allow, ask}},
	netPrivate:        {"fetching from a host that is not public", [4]mode{deny, deny, ask, deny}},
	useTool:           {"a tool that touches nothing else", [4]mode{allow, allow, allow, allow}},
}

// A setting is the merged answer of one cell, and who gave it.
type setting struct {
	verdict Verdict
	rule    string
	file    string
	line    int
	layer   Layer  // BuiltIn: nobody chose it
	why     string // where more is to be said than that no rule matches
}

func (s *setting) decision(why string) Decision {
	return Decision{Verdict: s.verdict, Rule: s.rule, File: s.file, Line: s.line, Layer: s.layer, Why: why, Default: true}
}

// profileSetting is the answer of a profile for one cell.
func profileSetting(p Profile, c cell, level int) setting {
	return setting{verdict: profileTable[c].modes[p].at(level), rule: "profile " + p.String() + ": " + profileTable[c].name}
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
	case s.verdict != Deny, s.layer == BuiltIn, s.layer == r.layer:
		return true
	}
	return r.grant && s.layer > Machine
}
