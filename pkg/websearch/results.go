package websearch

import (
	"fmt"
	"html"
	"net/url"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// maxSnippet is how many characters of a page's text are kept.
const maxSnippet = 1000

// take puts the results of a provider into the answer: clean, each page once, only what
// was asked for, and no more than that.
func (a *Answer) take(p *Provider, q Query, found []Result) {
	seen := map[string]int{}
	strange, old := 0, 0
	for _, r := range found {
		u, err := url.Parse(strings.TrimSpace(r.URL))
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || len(r.URL) > 4096 {
			continue
		}
		host := strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
		if len(q.Domains) > 0 && !within(host, q.Domains) || within(host, q.Exclude) {
			strange++
			continue
		}
		if at, ok := dated(r.Published); ok && !q.Since.IsZero() && at.Before(q.Since.Truncate(24*time.Hour)) {
			old++
			continue
		}
		a.clean(&r.Title, 300)
		a.clean(&r.Snippet, maxSnippet)
		a.clean(&r.Published, 40)
		r.URL = u.String()
		key := canonical(u)
		if at, twice := seen[key]; twice {
			if kept := &a.Results[at]; kept.Snippet == "" {
				kept.Snippet = r.Snippet
			}
			continue
		}
		if len(a.Results) < q.Max {
			seen[key] = len(a.Results)
			a.Results = append(a.Results, r)
		}
	}
	if strange > 0 {
		a.Notes = append(a.Notes, fmt.Sprintf("%d of what %s has found lay in other domains", strange, p.Name))
	}
	if old > 0 {
		a.Notes = append(a.Notes, fmt.Sprintf("%d of what %s has found was older", old, p.Name))
	}
	if !q.Since.IsZero() && p.periods {
		span := period(q.Since, a.Asked)
		if span == "" {
			span = "any time: it has no longer period than a year"
		}
		a.Notes = append(a.Notes, fmt.Sprintf("%s knows day, week, month and year only; it was asked for %s", p.Name, span))
	}
}

func (a *Answer) clean(text *string, most int) {
	shown, hidden := visible(*text)
	a.Hidden += hidden
	*text = cut(shown, most)
}

// canonical is the same for addresses that lead to the same page.
func canonical(u *url.URL) string {
	host := strings.TrimPrefix(strings.TrimSuffix(strings.ToLower(u.Hostname()), "."), "www.")
	if port := u.Port(); port != "" && port != "80" && port != "443" {
		host += ":" + port
	}
	path := strings.TrimRight(u.EscapedPath(), "/")
	query := u.Query()
	for name := range query {
		if strings.HasPrefix(name, "utm_") || strings.Contains(" gclid fbclid msclkid mc_cid mc_eid igshid ref_src ", " "+name+" ") {
			query.Del(name)
		}
	}
	return host + path + "?" + query.Encode()
}

// dated reads the date of a result, where it is one.
func dated(text string) (time.Time, bool) {
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05", time.DateOnly, time.RFC1123, time.RFC1123Z, "January 2, 2006"} {
		if t, err := time.Parse(layout, text); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}

// visible is text on one line without what nobody sees, and how many such characters
// there were: those of width zero, those that turn the writing around, tags, controls.
func visible(s string) (clean string, hidden int) {
	var b strings.Builder
	space := false
	for _, r := range s {
		switch {
		case unicode.IsSpace(r) || r == '\u2028' || r == '\u2029':
			space = true
			continue
		case r == 0xfe0f: // it only asks for a coloured sign
			continue
		case unicode.Is(unicode.Cf, r), unicode.IsControl(r), r >= 0xe0000 && r <= 0xe0fff, r == utf8.RuneError, r >= 0xfe00 && r <= 0xfe0f:
			hidden++
			continue
		}
		if space && b.Len() > 0 {
			b.WriteByte(' ')
		}
		space = false
		b.WriteRune(r)
	}
	return b.String(), hidden
}

// cut is the beginning of text, of so many characters.
func cut(text string, most int) string {
	n := 0
	for i := range text {
		if n++; n > most {
			return strings.TrimRight(text[:i], " ") + "…"
		}
	}
	return text
}

// plain is text that came as HTML with nothing but emphasis in it.
func plain(text string) string {
	return html.UnescapeString(strings.NewReplacer("<strong>", "", "</strong>", "", "<b>", "", "</b>", "", "<em>", "", "</em>", "", "<br>", " ").Replace(text))
}
