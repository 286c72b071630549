package session

import (
	"errors"
	"fmt"
	"strings"
)

// DefaultState returns the state directory for an environment and GOOS:
// AGENTKIT_STATE when set; on Windows %LOCALAPPDATA%\agentkit\state; elsewhere
// $XDG_STATE_HOME/agentkit, or ~/.local/state/agentkit. macOS is no exception:
// "~/Library/Application Support" would make the paths of the jobs' sockets
// longer than the 104 bytes the system allows. A relative AGENTKIT_STATE is an
// error, a relative XDG_STATE_HOME is ignored, as its specification says.
func DefaultState(getenv func(string) string, goos string) (string, error) {
	if dir := getenv("AGENTKIT_STATE"); dir != "" {
		if !absolute(dir, goos) {
			return "", fmt.Errorf("finding the state directory: AGENTKIT_STATE is %q, not an absolute path", dir)
		}
		return dir, nil
	}
	if goos == "windows" {
		if dir := getenv("LOCALAPPDATA"); absolute(dir, goos) {
			return dir + `\agentkit\state`, nil
		}
		return "", errors.New("finding the state directory: LOCALAPPDATA is not set; set AGENTKIT_STATE")
	}
	if dir := getenv("XDG_STATE_HOME"); absolute(dir, goos) {
		return strings.TrimRight(dir, "/") + "/agentkit", nil
	}
	if home := getenv("HOME"); absolute(home, goos) {
		return strings.TrimRight(home, "/") + "/.local/state/agentkit", nil
	}
	return "", errors.New("finding the state directory: HOME is not set; set AGENTKIT_STATE or XDG_STATE_HOME")
}

// absolute is filepath.IsAbs for any system, not only the present one.
func absolute(path, goos string) bool {
	if goos != "windows" {
		return strings.HasPrefix(path, "/")
	}
	if strings.HasPrefix(path, `\\`) {
		return true
	}
	return len(path) > 2 && isAlnum(path[0]) && path[1] == ':' && (path[2] == '\\' || path[2] == '/')
}
