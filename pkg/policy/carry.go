package policy

import (
	"fmt"
	"path"
	"path/filepath"
	"strings"
)

// A Carried is a policy file that goes along with calls to another machine.
type Carried struct {
	Name string `json:"name"` // where it stands there: machine, user or file, a slash, and a name
	Text []byte `json:"text"`
	From string `json:"from"` // what it is called where it comes from
}

// Carried reads the files that a caller's own policy is made of, and checks them with the rules
// of the command line. That of the project is none of them: it is about the root of this machine.
// So are the tests in them, which are run where the root is.
func (s *Sources) Carried() (list []Carried, err error) {
	own := *s
	own.Project, own.Root = "", "/"
	if _, problems := (&Policy{world: newWorld(&own)}).specs(&own); len(problems) > 0 {
		return nil, problems
	}
	dirs := map[string]string{"machine": s.Machine, "user": s.User}
	if len(s.Files) > 0 {
		delete(dirs, "user")
	}
	// Their names may be any; how they are read goes by the ending.
	add := func(as, name string, layer Layer) error {
		text, problem := readPolicy(name, layer)
		if problem != nil {
			return problem
		}
		list = append(list, Carried{path.Join(as, "policy"+filepath.Ext(name)), text, name})
		return nil
	}
	for i, as := range []string{"machine", "user"} {
		dir := dirs[as]
		if dir == "" {
			continue
		}
		name, problem := findFile(dir)
		if problem != nil {
			return nil, problem
		}
		if name == "" {
			continue
		}
		if err := add(as, name, []Layer{Machine, User}[i]); err != nil {
			return nil, err
		}
	}
	for i, name := range s.Files {
		if err := add(fmt.Sprintf("file/%d", i), name, CommandLine); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// Settle has s be made of files that a caller has sent, which lie in dir by now, in the
// place of those of this machine. What the machine's own policy allows does not count.
func (s *Sources) Settle(dir string, list []Carried) {
	s.Own = s.User
	s.Caller, s.User, s.Trust, s.Files = filepath.Join(dir, "machine"), filepath.Join(dir, "user"), nil, nil
	s.Called = map[string]string{}
	for _, c := range list {
		s.Called[filepath.Join(dir, filepath.FromSlash(c.Name))] = c.From
		if strings.HasPrefix(c.Name, "file/") {
			s.Files = append(s.Files, filepath.Join(dir, filepath.FromSlash(c.Name)))
		}
	}
}
