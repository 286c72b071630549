package sandbox

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/agentkit-go/agentkit/pkg/safefile"
)

// Enforced says what held a command.
type Enforced struct {
	Level      Level    `json:"level"`
	Mechanisms []string `json:"mechanisms" doc:"such as landlock:7, seccomp, exec-gate"`
	Missing    []string `json:"missing,omitempty" doc:"what a higher level lacked, and why"`
	Network    Network  `json:"network"`
	Hosts      []string `json:"hosts,omitempty" doc:"what it may reach; in a result, packages stands for the hosts of that preset"`
	Covered    []string `json:"covered,omitempty" doc:"what of the workspace cannot be read; the first 50"`
}

// The kinds of denial.
const (
	DeniedExec     = "exec"     // a program start
	DeniedConnect  = "connect"  // a connection, or a name or address to listen on
	DeniedMetadata = "metadata" // mode, owner, times or attributes of a file
	DeniedHost     = "host"     // a host, at the proxy
	DeniedWrite    = "write"    // a file, as a message of the program shows
	DeniedRead     = "read"     // the same
	DeniedLimit    = "limit"    // one of Config.Limits, the same
)

// A Denial is one thing that the command tried and could not do.
type Denial struct {
	Kind  string    `json:"kind"`
	Path  string    `json:"path,omitempty" doc:"the file, program or address"`
	Argv  []string  `json:"argv,omitempty"`
	Pid   int       `json:"pid,omitempty"`
	Rule  string    `json:"rule,omitempty" doc:"the rule that denied it"`
	Why   string    `json:"why"`
	Allow string    `json:"allow,omitempty" doc:"a policy rule that would allow it; \"\" when none can"`
	Time  time.Time `json:"time,omitzero"`
	Count int       `json:"count,omitempty" doc:"how often, when more than once"`
}

// A Report is what happened in a sandbox.
type Report struct {
	Enforced
	Denials     []Denial  `json:"denials,omitempty"`
	Dropped     int       `json:"dropped,omitempty" doc:"denials beyond the ones that are kept"`
	Quarantined []Restore `json:"quarantined,omitempty"`
	Beyond      []string  `json:"beyond,omitempty" doc:"what of the root was not looked at for what the policy keeps from commands, and why"`
	Apart       []string  `json:"apart,omitempty" doc:"directories that the view of the workspace could not rename, and why"`
	Failed      string    `json:"failed,omitempty" doc:"why the sandbox could not be made"`
}

// maxDenials bounds what one sandbox writes into its report.
const maxDenials = 200

// A line is one line of a report's file.
type line struct {
	Enforced *Enforced `json:"enforced,omitempty"`
	Denial   *Denial   `json:"denial,omitempty"`
	Dropped  int       `json:"dropped,omitempty"`
	Failed   string    `json:"failed,omitempty"`
	Restored *Restore  `json:"restored,omitempty"`
	Apart    string    `json:"apart,omitempty"`
}

// ReadReport reads what the gatekeeper wrote into the file Config.Report so
// far. Equal denials are one, with a count. A file that is not there is a
// sandbox that did not start: the level is L0.
func ReadReport(file string) (*Report, error) {
	r := &Report{}
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return r, nil
	}
	if err != nil {
		return r, fmt.Errorf("reading the sandbox's report: %w", err)
	}
	seen := map[string]int{}
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, 1<<22)
	for lines.Scan() {
		var l line
		if err := safefile.DecodeJSON(lines.Bytes(), &l); err != nil {
			return r, fmt.Errorf("reading the sandbox's report: %w", err)
		}
		r.add(&l, seen)
	}
	if err := lines.Err(); err != nil {
		return r, fmt.Errorf("reading the sandbox's report: %w", err)
	}
	return r, nil
}

func (r *Report) add(l *line, seen map[string]int) {
	if l.Enforced != nil {
		r.Enforced = *l.Enforced
	}
	if l.Failed != "" {
		r.Failed = l.Failed
	}
	r.Dropped += l.Dropped
	if l.Restored != nil {
		r.Quarantined = append(r.Quarantined, *l.Restored)
	}
	if l.Apart != "" {
		r.Apart = append(r.Apart, l.Apart)
	}
	if l.Denial == nil {
		return
	}
	d := *l.Denial
	id := fmt.Sprintf("%s\x00%s\x00%q\x00%s", d.Kind, d.Path, d.Argv, d.Rule)
	if at, ok := seen[id]; ok {
		r.Denials[at].Count = max(r.Denials[at].Count, 1) + 1
		return
	}
	seen[id] = len(r.Denials)
	r.Denials = append(r.Denials, d)
}
