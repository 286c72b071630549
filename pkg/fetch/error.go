package fetch

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// A Code names why there is no answer.
type Code string

// The codes.
const (
	BadURL     Code = "bad_url"    // no request is made to such an address
	BadHeader  Code = "bad_header" // a header that a caller cannot set
	Refused    Code = "address"    // Guard refuses the address of the host
	Redirects  Code = "redirects"  // too many of them, or one that leads where nothing is fetched
	Downgrade  Code = "downgrade"  // a redirect from https to http
	DNS        Code = "dns"        // the name has no address, or nobody answers for it
	Connection Code = "connection" // it was refused, or broke
	TLS        Code = "tls"        // the certificate or the handshake
	Timeout    Code = "timeout"    // see Phase
	Decode     Code = "decode"     // the body is coded as it does not say, or as nobody reads it
	Protocol   Code = "protocol"   // what came is no HTTP, or more of it than a server should say
)

// An Error says why there is no answer.
type Error struct {
	Code      Code
	Phase     string // of a Timeout: connect, tls, headers, body or total
	URL       string // which address it is about, without a password
	Message   string
	Retryable bool // another try later may succeed

	err error
}

// Error implements error.
func (e *Error) Error() string { return e.Message }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.err }

// A GuardError is the cause of an Error whose address Guard has refused.
type GuardError struct {
	Host string
	Err  error
}

// Error implements error.
func (e *GuardError) Error() string { return e.Err.Error() }

// Unwrap returns what Guard said.
func (e *GuardError) Unwrap() error { return e.Err }

// passing reports whether an error is about the network of the moment, so that an
// older answer is better than none.
func passing(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.Retryable
}

// failure says why a request has no answer. An error of the caller's context comes as
// it is, unless its deadline has passed.
func (c *Client) failure(ctx context.Context, at *url.URL, err error) error {
	host := at.Host
	timeout := func(phase, format string, args ...any) error {
		e := errorf(Timeout, at, format, args...)
		e.Phase, e.Retryable = phase, true
		return e
	}
	cause := context.Cause(ctx)
	if guard, ok := errors.AsType[*GuardError](err); ok {
		return errorf(Refused, at, "%w", guard)
	}
	switch {
	case errors.Is(cause, context.DeadlineExceeded):
		return timeout("total", "%s did not answer within the time limit", host)
	case errors.Is(cause, errHeaders), errors.Is(err, errHeaders), strings.Contains(err.Error(), "timeout awaiting response headers"):
		return timeout("headers", "%s accepted the request and sent no answer", host)
	case errors.Is(cause, context.Canceled):
		return cause
	}
	if own, ok := errors.AsType[*Error](err); ok {
		return own
	}
	if dns, ok := errors.AsType[*net.DNSError](err); ok {
		e := errorf(DNS, at, "looking up %s: %s", dns.Name, dns.Err)
		e.Retryable = !dns.IsNotFound
		return e
	}
	if message := certificate(err); message != "" {
		return errorf(TLS, at, "the certificate of %s is not good: %s", host, message)
	}
	text := strings.TrimPrefix(err.Error(), "net/http: ")
	switch {
	case strings.Contains(text, "TLS handshake timeout"):
		return timeout("tls", "%s did not finish the TLS handshake", host)
	case errors.Is(err, errConnect):
		return timeout("connect", "%s could not be reached in time", host)
	case strings.Contains(text, "tls:"), strings.Contains(text, "HTTP response to HTTPS client"):
		return errorf(TLS, at, "no TLS with %s: %s", host, text)
	case strings.Contains(text, "malformed"), strings.Contains(text, "server response headers exceeded"), strings.Contains(text, "too many 1xx"),
		strings.Contains(text, "Content-Length"), strings.Contains(text, "unsupported transfer encoding"):
		return errorf(Protocol, at, "what %s answers is no HTTP that can be read: %s", host, text)
	}
	e := errorf(Connection, at, "no answer from %s: %s", host, plainly(err))
	e.Retryable = true
	return e
}

// plainly is what a network error says, without the names of system calls.
func plainly(err error) string {
	if n, ok := errors.AsType[syscall.Errno](err); ok {
		return n.Error()
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return "the connection was closed"
	}
	return err.Error()
}

// certificate says what is wrong with a certificate; "" where the error is not about
// one.
func certificate(err error) string {
	if unknown, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		return unknown.Error()
	}
	if host, ok := errors.AsType[x509.HostnameError](err); ok {
		return host.Error()
	}
	if invalid, ok := errors.AsType[x509.CertificateInvalidError](err); ok {
		return invalid.Error()
	}
	if bad, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return bad.Error()
	}
	return ""
}

// RetryAfter is the time that an answer asks to wait for, and whether it does.
func RetryAfter(h http.Header, now time.Time) (time.Duration, bool) {
	value := strings.TrimSpace(h.Get("Retry-After"))
	if n, err := strconv.Atoi(value); err == nil && n >= 0 {
		return time.Duration(min(n, 1<<30)) * time.Second, true
	}
	if at, err := http.ParseTime(value); err == nil {
		return max(0, at.Sub(now)), true
	}
	return 0, false
}

// StatusText is a status with its name.
func StatusText(status int) string {
	if name := http.StatusText(status); name != "" {
		return fmt.Sprintf("%d %s", status, name)
	}
	return strconv.Itoa(status)
}

// errorf makes an Error about an address.
func errorf(code Code, at *url.URL, format string, args ...any) *Error {
	err := fmt.Errorf(format, args...)
	e := &Error{Code: code, Message: err.Error(), err: errors.Unwrap(err)}
	if at != nil {
		e.URL = at.Redacted()
	}
	return e
}
