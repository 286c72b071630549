package fetch

import (
	"bytes"
	"net/http"
	"strings"
)

// challenges are the walls against robots by what their pages hold, in small letters.
// Of a page with status 200 only what is strong counts: an article may be about one.
func challenges() []struct {
	name, mark string
	strong     bool
} {
	return []struct {
		name, mark string
		strong     bool
	}{
		{"Cloudflare", "<title>just a moment...</title>", true},
		{"Cloudflare", "/cdn-cgi/challenge-platform/", false},
		{"Cloudflare", "attention required! | cloudflare", false},
		{"DataDome", "captcha-delivery.com", false},
		{"Imperva", "_incapsula_resource", false},
		{"HUMAN", "px-captcha", false},
		{"AWS WAF", "awswafintegration", false},
		{"Vercel", "<title>vercel security checkpoint</title>", true},
		{"Anubis", "making sure you&#39;re not a bot!", true},
		{"Anubis", "making sure you're not a bot!", true},
		{"Anubis", "/.within.website/x/cmd/anubis/", true},
		{"Akamai", "errors.edgesuite.net", false},
		{"SiteGround", "/.well-known/sgcaptcha/", true},
		{"Kasada", "/149e9513-01fa-4fb0-aad4-566afd725d1b/", false},
		{"reCAPTCHA", "g-recaptcha", false},
		{"hCaptcha", "h-captcha", false},
		{"a captcha", "verify you are human", false},
		{"a captcha", "unusual traffic from your computer network", true},
	}
}

// Challenge names whose wall against robots an answer is; "" where it is none.
func Challenge(r *Response) string {
	h := r.Header
	switch {
	case strings.EqualFold(h.Get("Cf-Mitigated"), "challenge"):
		return "Cloudflare"
	case h.Get("X-Vercel-Mitigated") == "challenge":
		return "Vercel"
	case h.Get("X-Amzn-Waf-Action") != "":
		return "AWS WAF"
	case strings.Contains(h.Get("X-Datadome"), "protected") && r.Status == http.StatusForbidden:
		return "DataDome"
	}
	wall := false
	switch r.Status {
	case 202, 401, 403, 405, 406, 429, 503:
		wall = true
	}
	if t := h.Get("Content-Type"); t != "" && !strings.Contains(t, "html") || !wall && r.Status != http.StatusOK {
		return ""
	}
	head := bytes.ToLower(r.Body[:min(len(r.Body), 64<<10)])
	for _, c := range challenges() {
		if (wall || c.strong && len(r.Body) < 32<<10) && bytes.Contains(head, []byte(c.mark)) {
			return c.name
		}
	}
	return ""
}
