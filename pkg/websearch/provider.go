package websearch

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// A Provider is a search engine.
type Provider struct {
	Name string
	Base string // address of its API
	Key  string // "" for none

	keyName string            // the variable that holds the key
	secrets map[string]string // all keys that are known, by the variable
	request func(*Provider, Query) Request
	read    func(*Provider, Response) (page, error)
	bytes   int  // longest query; 0 for any
	words   int  // most words in it; 0 for any
	sites   bool // domains are words of the query, and no parameter of the API
	periods bool // it knows no dates, but the last day, week, month and year
}

// A page is what a provider answers.
type page struct {
	results []Result
	cost    float64
	notes   []string
}

// Auto is the word for all providers that can be asked, in order.
const Auto = "auto"

// Names are the words that choose a provider.
func Names() []string {
	return []string{Auto, "tavily", "exa", "brave", "searxng", "duckduckgo", "stackoverflow", "github"}
}

// Providers are those that a word chooses, in the order in which they are asked: those
// with a key first, then those that need none. Those that search one site are asked by
// their name only. setting looks a variable up. The error
// says which variable is missing.
func Providers(word string, setting func(string) string) ([]Provider, error) {
	var list []Provider
	add := func(p Provider, variable string) {
		if base := setting(variable); base != "" {
			p.Base = base
		}
		p.Base = strings.TrimRight(p.Base, "/")
		list = append(list, p)
	}
	wanted := func(name string) bool { return word == Auto || word == name }
	if p := tavily(setting("TAVILY_API_KEY")); wanted("tavily") && p.Key != "" {
		add(p, "AGENTKIT_TAVILY_URL")
	}
	if p := exa(setting("EXA_API_KEY")); wanted("exa") && p.Key != "" {
		add(p, "AGENTKIT_EXA_URL")
	}
	if p := brave(cmp.Or(setting("BRAVE_API_KEY"), setting("BRAVE_SEARCH_API_KEY"))); wanted("brave") && p.Key != "" {
		add(p, "AGENTKIT_BRAVE_URL")
	}
	if base := cmp.Or(setting("SEARXNG_URL"), setting("SEARXNG_API_BASE")); wanted("searxng") && base != "" {
		add(searxng(base), "")
	}
	if wanted("tavily") {
		add(tavily(""), "AGENTKIT_TAVILY_URL")
	}
	if wanted("duckduckgo") {
		add(duckDuckGo(), "AGENTKIT_DUCKDUCKGO_URL")
		add(duckDuckGoLite(), "AGENTKIT_DUCKDUCKGO_LITE_URL")
	}
	switch word {
	case "stackoverflow":
		add(stackOverflow(), "AGENTKIT_STACKOVERFLOW_URL")
	case "github":
		add(github(setting(githubToken)), "AGENTKIT_GITHUB_URL")
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%s needs the variable %s", word, map[string]string{"exa": "EXA_API_KEY", "brave": "BRAVE_API_KEY", "searxng": "SEARXNG_URL"}[word])
	}
	secrets := map[string]string{}
	for _, name := range Settings() {
		if u, err := url.Parse(setting(name)); err == nil && u.User != nil {
			secrets[name], _ = u.User.Password()
		} else if strings.HasSuffix(name, "_KEY") {
			secrets[name] = setting(name)
		}
		if len(secrets[name]) < 4 {
			delete(secrets, name)
		}
	}
	for i := range list {
		p := &list[i]
		p.secrets = secrets
		if u, err := url.Parse(p.Base); err != nil || u.Host == "" || u.User != nil || u.Scheme != "http" && u.Scheme != "https" {
			return nil, fmt.Errorf("the address of %s is no http or https URL without a name and password", p.Name)
		}
	}
	return list, nil
}

// Settings are the variables that Providers looks up.
func Settings() []string {
	return []string{
		"TAVILY_API_KEY", "EXA_API_KEY", "BRAVE_API_KEY", "BRAVE_SEARCH_API_KEY", "SEARXNG_URL", "SEARXNG_API_BASE",
		"AGENTKIT_TAVILY_URL", "AGENTKIT_EXA_URL", "AGENTKIT_BRAVE_URL", "AGENTKIT_DUCKDUCKGO_URL", "AGENTKIT_DUCKDUCKGO_LITE_URL",
		githubToken, "AGENTKIT_GITHUB_URL", "AGENTKIT_STACKOVERFLOW_URL",
	}
}

// unable says why the provider cannot be asked this.
func (p *Provider) unable(q Query) string {
	text := q.Text
	if p.sites {
		text = withSites(q)
	}
	switch {
	case p.bytes > 0 && len(text) > p.bytes:
		return fmt.Sprintf("it takes queries of at most %d bytes, and with its domains this one has %d", p.bytes, len(text))
	case p.words > 0 && len(strings.Fields(text)) > p.words:
		return fmt.Sprintf("it takes queries of at most %d words, and with its domains this one has %d", p.words, len(strings.Fields(text)))
	}
	return ""
}

// keyAdvice says what is wrong with the key.
func (p *Provider) keyAdvice() string {
	switch {
	case p.keyName == "":
		return "it does not let us in"
	case p.Key == "":
		return "it wants a key, in the variable " + p.keyName
	}
	return "it does not take the key in the variable " + p.keyName
}

// secretless is what a provider says, short, on one line and without any key, which it may
// say again.
func (p *Provider) secretless(words string) string {
	for name, key := range p.secrets {
		for _, form := range []string{key, url.QueryEscape(key)} {
			words = strings.ReplaceAll(words, form, "[redacted:"+name+"]")
		}
	}
	words, _ = visible(words)
	return cut(words, 300)
}

// withSites is the query for engines that know domains as words only.
func withSites(q Query) string {
	text := q.Text
	if len(q.Domains) > 0 {
		sites := make([]string, len(q.Domains))
		for i, d := range q.Domains {
			sites[i] = "site:" + d
		}
		either := strings.Join(sites, " OR ")
		if len(sites) > 1 {
			either = "(" + either + ")"
		}
		text += " " + either
	}
	return strings.Join(append([]string{text}, q.Exclude...), " -site:")
}

// body is a request with a JSON object.
func body(url string, header map[string]string, object any) Request {
	raw, _ := json.Marshal(object) // structs of texts and numbers
	header["Content-Type"], header["Accept"] = "application/json", "application/json"
	return Request{Method: "POST", URL: url, Header: header, Body: raw}
}

// decode reads a provider's answer, or the error that it is.
func decode(p *Provider, res Response, into any) *Error {
	if res.Status < 200 || res.Status >= 300 {
		words, retry := said(res.Body)
		e := failure(p, res, words)
		e.RetryAfter = max(e.RetryAfter, retry)
		return e
	}
	if err := json.Unmarshal(res.Body, into); err != nil {
		return &Error{Kind: Malformed, Status: res.Status, Message: "its answer is not the JSON that it documents"}
	}
	return nil
}

// Domain is the host that someone means by a domain, a host or a URL; "" for what is none.
func Domain(text string) string {
	text = strings.ToLower(strings.TrimSpace(text))
	if _, rest, ok := strings.Cut(text, "://"); ok {
		text = rest
	}
	text, _, _ = strings.Cut(text, "/")
	text = strings.Trim(strings.TrimPrefix(strings.TrimPrefix(text, "*."), "www."), ".")
	if text == "" || !strings.Contains(text, ".") || strings.ContainsFunc(text, func(r rune) bool {
		return r <= ' ' || r < 0x80 && !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' || r == '.' || r == '_')
	}) {
		return ""
	}
	return text
}

// within reports whether a host lies in one of the domains.
func within(host string, domains []string) bool {
	return slices.ContainsFunc(domains, func(d string) bool { return host == d || strings.HasSuffix(host, "."+d) })
}
