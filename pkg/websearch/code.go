package websearch

import (
	"html"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// stackOverflow searches the questions and answers of Stack Overflow.
func stackOverflow() Provider {
	return Provider{Name: "stackoverflow", Base: "https://api.stackexchange.com", request: askStackOverflow, read: readStackOverflow}
}

func askStackOverflow(p *Provider, q Query) Request {
	form := url.Values{"q": {q.Text}, "site": {"stackoverflow"}, "order": {"desc"}, "sort": {"relevance"}, "pagesize": {strconv.Itoa(q.Max)}}
	if !q.Since.IsZero() {
		form.Set("fromdate", strconv.FormatInt(q.Since.Unix(), 10))
	}
	return Request{Method: "GET", URL: p.Base + "/2.3/search/excerpts?" + form.Encode(), Header: map[string]string{"Accept": "application/json"}}
}

func readStackOverflow(p *Provider, res Response) (page, error) {
	var got struct {
		Items *[]struct {
			Type     string `json:"item_type"`
			Question int64  `json:"question_id"`
			Answer   int64  `json:"answer_id"`
			Created  int64  `json:"creation_date"`
			Score    float64
			Title    string
			Excerpt  string
		}
	}
	if e := decode(p, res, &got); e != nil {
		return page{}, stackError(res, e)
	}
	if got.Items == nil {
		return page{}, missing(res, "items")
	}
	var out page
	for _, i := range *got.Items {
		at := "https://stackoverflow.com/q/" + strconv.FormatInt(i.Question, 10)
		if i.Type == "answer" {
			at = "https://stackoverflow.com/a/" + strconv.FormatInt(i.Answer, 10)
		}
		out.results = append(out.results, Result{
			Title: html.UnescapeString(i.Title), URL: at, Score: i.Score, Published: time.Unix(i.Created, 0).UTC().Format(time.DateOnly),
			Snippet: html.UnescapeString(strings.NewReplacer(`<span class="highlight">`, "", "</span>", "").Replace(i.Excerpt)),
		})
	}
	return out, nil
}

// stackError tells a limit from a query that is wrong: both come with status 400. The
// words end with how many seconds to wait.
func stackError(res Response, e *Error) *Error {
	words := string(res.Body)
	if !strings.Contains(words, "throttle_violation") {
		return e
	}
	e.Kind, e.Message = Limit, "its limit of requests is reached"
	if _, rest, ok := strings.Cut(words, "available in "); ok {
		n, _, _ := strings.Cut(rest, " ")
		wait, _ := strconv.ParseFloat(n, 64) // 0 for what is no number
		e.RetryAfter = seconds(wait)
	}
	return e
}

// github searches GitHub: code with a token, which its search of code wants, and
// repositories without one.
func github(token string) Provider {
	return Provider{Name: "github", Base: "https://api.github.com", Key: token, keyName: githubToken, request: askGithub, read: readGithub, bytes: 256}
}

// githubToken is no variable of others: a token that is there for git may see private
// repositories.
const githubToken = "AGENTKIT_GITHUB_KEY"

func askGithub(p *Provider, q Query) Request {
	what, text := "repositories", q.Text
	header := map[string]string{"Accept": "application/vnd.github+json", "X-GitHub-Api-Version": "2022-11-28"}
	switch {
	case p.Key != "":
		what = "code"
		header["Accept"], header["Authorization"] = "application/vnd.github.text-match+json", "Bearer "+p.Key
	case !q.Since.IsZero():
		text += " pushed:>=" + day(q.Since)
	}
	return Request{Method: "GET", URL: p.Base + "/search/" + what + "?" + url.Values{"q": {text}, "per_page": {strconv.Itoa(q.Max)}}.Encode(), Header: header}
}

func readGithub(p *Provider, res Response) (page, error) {
	var got struct {
		Incomplete bool `json:"incomplete_results"`
		Items      *[]struct {
			Path        string
			Name        string `json:"full_name"`
			URL         string `json:"html_url"`
			Description string
			Pushed      string `json:"pushed_at"`
			Repository  struct {
				Name string `json:"full_name"`
			}
			Matches []struct{ Fragment string } `json:"text_matches"`
		}
	}
	if e := decode(p, res, &got); e != nil {
		if res.Status == 403 && (res.Header.Get("X-RateLimit-Remaining") == "0" || e.RetryAfter > 0 || strings.Contains(string(res.Body), "secondary rate limit")) {
			e.Kind, e.Message = Limit, "its limit of requests is reached"
		}
		if opens, err := strconv.ParseInt(res.Header.Get("X-RateLimit-Reset"), 10, 64); err == nil && e.Kind == Limit && e.RetryAfter == 0 {
			e.RetryAfter = seconds(time.Until(time.Unix(opens, 0)).Seconds())
		}
		return page{}, e
	}
	if got.Items == nil {
		return page{}, missing(res, "items")
	}
	var out page
	for _, i := range *got.Items {
		one := Result{Title: i.Name, URL: i.URL, Snippet: i.Description, Published: i.Pushed}
		if i.Path != "" {
			one.Title = i.Repository.Name + ": " + i.Path
			var pieces []string
			for _, m := range i.Matches {
				pieces = append(pieces, m.Fragment)
			}
			one.Snippet = strings.Join(pieces, " … ")
		}
		out.results = append(out.results, one)
	}
	if got.Incomplete {
		out.notes = append(out.notes, "github has not looked everywhere")
	}
	return out, nil
}
