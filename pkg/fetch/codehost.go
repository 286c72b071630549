package fetch

import (
	"net/url"
	"strings"
)

// RawFile is the address of the file that a page of a known host of code shows, and
// whether the address is one of such a page. Whether there is a file of that name only
// the host knows: the page may show a directory.
func RawFile(u *url.URL) (*url.URL, bool) {
	if u.RawQuery != "" && !strings.HasPrefix(u.RawQuery, "plain=") && !strings.HasPrefix(u.RawQuery, "ref_type=") {
		return nil, false
	}
	host := strings.TrimPrefix(strings.ToLower(u.Hostname()), "www.")
	parts := strings.Split(strings.Trim(u.EscapedPath(), "/"), "/")
	raw := &url.URL{Scheme: "https", Host: host}
	switch {
	case strings.HasSuffix(u.Path, "/"):
		return nil, false
	case host == "github.com" && len(parts) >= 5 && (parts[2] == "blob" || parts[2] == "raw" || parts[2] == "blame"):
		raw.Host = "raw.githubusercontent.com"
		parts = append(parts[:2:2], parts[3:]...)
	case host == "gist.github.com" && len(parts) == 2 && len(parts[1]) >= 20:
		raw.Host = "gist.githubusercontent.com"
		parts = append(parts, "raw")
	case (host == "codeberg.org" || host == "gitea.com") && len(parts) >= 6 && parts[2] == "src":
		parts[2] = "raw"
	case host == "bitbucket.org" && len(parts) >= 5 && parts[2] == "src":
		parts[2] = "raw"
	case host == "git.sr.ht" && len(parts) >= 6 && parts[2] == "tree" && parts[4] == "item":
		parts = append([]string{parts[0], parts[1], "blob", parts[3]}, parts[5:]...)
	default: // GitLab, wherever it runs
		i := gitLabFile(parts)
		if i < 0 {
			return nil, false
		}
		raw.Scheme, raw.Host, parts[i] = u.Scheme, u.Host, "raw"
	}
	raw, err := raw.Parse("/" + strings.Join(parts, "/"))
	return raw, err == nil
}

// gitLabFile is where the path of a page of GitLab says that it shows a file: after
// GROUP/PROJECT/-/, in blob/REF/PATH.
func gitLabFile(parts []string) int {
	for i := 3; i+2 < len(parts); i++ {
		if parts[i-1] == "-" && (parts[i] == "blob" || parts[i] == "blame") {
			return i
		}
	}
	return -1
}
