package fetch

import (
	"bufio"
	"bytes"
	"context"
	"net/http"
	"net/url"
	"strings"
)

// maxRobots is how much of a robots.txt is read, as RFC 9309 has it at least.
const maxRobots = 500 << 10

// Robots reports whether the robots.txt of a host lets a robot of that name get an
// address (RFC 9309). A file that is not there allows everything, one that cannot be
// got nothing.
func (c *Client) Robots(ctx context.Context, r Request, robot string) (bool, error) {
	at := &url.URL{Scheme: r.URL.Scheme, Host: r.URL.Host, Path: "/robots.txt"}
	res, err := c.Do(ctx, Request{URL: at, MaxBytes: maxRobots, Timeout: r.Timeout, Visit: r.Visit})
	switch {
	case err != nil:
		return false, err
	case res.Status >= http.StatusInternalServerError || res.Status == http.StatusTooManyRequests:
		return false, nil
	case res.Status >= http.StatusBadRequest:
		return true, nil
	}
	path := r.URL.EscapedPath()
	if path == "" {
		path = "/"
	}
	if r.URL.RawQuery != "" {
		path += "?" + r.URL.RawQuery
	}
	return allowed(res.Body, strings.ToLower(robot), path), nil
}

// allowed reads the groups of a robots.txt that are for a robot, or for all where none
// is, and lets the longest rule decide.
func allowed(file []byte, robot, path string) bool {
	type rule struct {
		allow   bool
		pattern string
	}
	groups := map[bool][]rule{} // true: for the robot itself
	named := false
	var mine, all, inRules bool
	lines := bufio.NewScanner(bytes.NewReader(bytes.TrimPrefix(file, []byte("\xef\xbb\xbf"))))
	lines.Buffer(nil, maxRobots+1)
	for lines.Scan() {
		line, _, _ := strings.Cut(lines.Text(), "#")
		key, value, ok := strings.Cut(line, ":")
		key, value = strings.ToLower(strings.TrimSpace(key)), strings.TrimSpace(value)
		switch {
		case !ok:
		case key == "user-agent":
			if inRules {
				mine, all, inRules = false, false, false
			}
			mine = mine || strings.EqualFold(value, robot)
			all = all || value == "*"
			named = named || mine
		case key == "allow" || key == "disallow":
			inRules = true
			if value == "" {
				continue // nothing is disallowed
			}
			if mine {
				groups[true] = append(groups[true], rule{key == "allow", value})
			}
			if all {
				groups[false] = append(groups[false], rule{key == "allow", value})
			}
		}
	}
	best, verdict := -1, true
	for _, r := range groups[named] {
		if n := len(r.pattern); matchesRobots(r.pattern, path) && (n > best || n == best && r.allow) {
			best, verdict = n, r.allow
		}
	}
	return verdict
}

// matchesRobots matches a pattern in which * is anything and a last $ the end.
func matchesRobots(pattern, path string) bool {
	pattern, whole := strings.CutSuffix(pattern, "$")
	parts := strings.Split(pattern, "*")
	rest, ok := strings.CutPrefix(path, parts[0])
	if !ok {
		return false
	}
	for i, part := range parts[1:] {
		if whole && i == len(parts)-2 {
			return strings.HasSuffix(rest, part)
		}
		at := strings.Index(rest, part)
		if at < 0 {
			return false
		}
		rest = rest[at+len(part):]
	}
	return !whole || rest == ""
}
