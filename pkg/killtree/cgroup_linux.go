package killtree

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// A cgroup is a cgroup v2 directory of our own. Methods of nil do nothing.
type cgroup struct {
	path string
	fd   int
}

// unlimited is more memory than any machine has.
const unlimited = 1 << 50

// newCgroup makes one below the cgroup that we are in.
func newCgroup(most int, memory int64) (*cgroup, error) {
	base, err := ownCgroup()
	if err != nil {
		return nil, err
	}
	// Never one that is there already: who is in it is not ours.
	g := &cgroup{path: cgroupName(base, os.Getpid()) + strconv.FormatUint(rand.Uint64(), 36), fd: -1}
	if err := os.Mkdir(g.path, 0o755); err != nil {
		return nil, err
	}
	if g.fd, err = unix.Open(g.path, unix.O_DIRECTORY|unix.O_RDONLY|unix.O_CLOEXEC, 0); err != nil {
		g.remove()
		return nil, err
	}
	// Kernels before 5.14 cannot kill a cgroup at once.
	if err := unix.Access(g.path+"/cgroup.kill", unix.W_OK); err != nil {
		g.remove()
		return nil, err
	}
	if most > 0 {
		// The stage is not in it. Without the controller there is no bound.
		_ = os.WriteFile(g.path+"/pids.max", strconv.AppendInt(nil, int64(most), 10), 0)
	}
	if memory > 0 && memory < unlimited {
		_ = os.WriteFile(g.path+"/memory.oom.group", []byte("1"), 0) // the kernel ends all of it, not a part
		_ = os.WriteFile(g.path+"/memory.max", strconv.AppendInt(nil, memory, 10), 0)
	}
	return g, nil
}

// dir is the path of g, "" for none.
func (g *cgroup) dir() string {
	if g == nil {
		return ""
	}
	return g.path
}

// cgroupName is how the name of the cgroup of a stage begins.
func cgroupName(base string, pid int) string {
	return filepath.Join(base, "agentkit-"+strconv.Itoa(pid)+"-")
}

// reclaim ends the cgroup of a stage that was killed.
func reclaim(pid int) {
	base, err := ownCgroup()
	if err != nil {
		return
	}
	paths, _ := filepath.Glob(cgroupName(base, pid) + "*")
	for _, path := range paths {
		g := &cgroup{path: path, fd: -1}
		_ = g.kill()
		g.remove()
	}
}

// mayCgroup is why newCgroup would fail for sure: a stage need not be started to
// find that out.
func mayCgroup() error {
	base, err := ownCgroup()
	if err != nil {
		return err
	}
	return unix.Faccessat(unix.AT_FDCWD, base, unix.W_OK|unix.X_OK, unix.AT_EACCESS)
}

// ownCgroup is the directory of our cgroup in the v2 hierarchy.
func ownCgroup() (string, error) {
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return "", err
	}
	own, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(string(own)) {
		name, ok := strings.CutPrefix(strings.TrimSpace(line), "0::")
		if !ok {
			continue
		}
		for mount := range strings.Lines(string(mounts)) {
			front, back, _ := strings.Cut(mount, " - ")
			f := strings.Fields(front)
			if strings.HasPrefix(back, "cgroup2 ") && len(f) > 4 {
				if rel, err := filepath.Rel(f[3], name); err == nil && filepath.IsLocal(rel) {
					return filepath.Join(f[4], rel), nil
				}
			}
		}
	}
	return "", unix.ENOENT
}

func (g *cgroup) kill() error {
	return os.WriteFile(g.path+"/cgroup.kill", []byte("1"), 0)
}

// remove removes the directory, which takes until the last process in it is
// wholly gone.
func (g *cgroup) remove() {
	if g == nil {
		return
	}
	if g.fd >= 0 {
		_ = unix.Close(g.fd)
	}
	for range 500 {
		if err := unix.Rmdir(g.path); !errors.Is(err, unix.EBUSY) {
			return
		}
		pause()
	}
}
