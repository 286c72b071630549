package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// website serves the script's directory site as $SITE, which is also $OTHER by another
// name: website. A file NAME.http is a whole answer, status line first, in which $SITE
// and $OTHER are filled in; what is in a file NAME.raw is sent as it stands; "busy N" in place of one is 503 N times, "slow" never comes.
// Requests are noted in the file requests.
func website(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) > 0 {
		ts.Fatalf("usage: website")
	}
	site := ts.MkAbs("site")
	var mu sync.Mutex
	asked := map[string]int{}
	server := loopback(ts, func(log io.Writer, w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		asked[r.URL.Path]++
		times := asked[r.URL.Path]
		_, _ = fmt.Fprintf(log, "%s %s%s as %s for %s auth %s\n", r.Method, r.Host, r.URL, r.UserAgent(), r.Header.Get("Accept"), r.Header.Get("Authorization"))
		mu.Unlock()
		name := filepath.Join(site, filepath.FromSlash(filepath.Clean("/"+r.URL.Path)))
		if raw, err := os.ReadFile(name + ".raw"); err == nil {
			conn, _, err := w.(http.Hijacker).Hijack()
			if err != nil {
				return
			}
			_, _ = conn.Write(raw)
			time.Sleep(300 * time.Millisecond) // or the end of it would be all that is noticed
			_ = conn.Close()
			return
		}
		answer, err := os.ReadFile(name + ".http")
		if err != nil {
			http.ServeFile(w, r, name)
			return
		}
		if word, n, _ := strings.Cut(strings.TrimSpace(string(answer)), " "); word == "busy" {
			if most, _ := strconv.Atoi(n); times <= most {
				http.Error(w, "busy", http.StatusServiceUnavailable)
				return
			}
			_, _ = io.WriteString(w, "not busy any more\n")
			return
		} else if word == "slow" {
			select {
			case <-r.Context().Done():
			case <-time.After(30 * time.Second):
			}
			return
		}
		sendKept(w, r, strings.NewReader(os.Expand(string(answer), ts.Getenv)))
	})
	port := server.Listener.Addr().String()
	port = port[strings.LastIndex(port, ":"):]
	ts.Setenv("SITE", "http://127.0.0.1"+port)
	ts.Setenv("OTHER", "http://localhost"+port)
	ts.Setenv("HERE", "127.0.0.1"+port)
	ts.Setenv("THERE", "localhost"+port)
}
