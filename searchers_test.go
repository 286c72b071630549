package main

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// searchers starts a server that stands for search engines: a request below /NAME/ gets
// the answer in pkg/websearch/testdata/NAME.http, one below /slow/ none. What came is
// written to the file requests. SEARCH is its address and SEARCH_HOST the host in it.
func searchers(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) > 0 {
		ts.Fatalf("usage: searchers")
	}
	server := loopback(ts, func(log io.Writer, w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		_, _ = fmt.Fprintf(log, "%s %s %s %s\n", r.Method, r.URL, r.Header.Get("Authorization"), body)
		name, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
		if name == "slow" {
			<-r.Context().Done()
			return
		}
		f, err := os.Open(filepath.Join("pkg", "websearch", "testdata", filepath.Base(name)+".http"))
		if err != nil {
			http.Error(w, "no such answer", http.StatusTeapot)
			return
		}
		defer f.Close()
		sendKept(w, r, f)
	})
	ts.Setenv("SEARCH", server.URL)
	ts.Setenv("SEARCH_HOST", strings.TrimPrefix(server.URL, "http://"))
}

// loopback starts a server for a script; it closes with the script. answer gets the script's file
// requests, to note in it what came.
func loopback(ts *testscript.TestScript, answer func(log io.Writer, w http.ResponseWriter, r *http.Request)) *httptest.Server {
	log, err := os.OpenFile(ts.MkAbs("requests"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	ts.Check(err)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { answer(log, w, r) }))
	ts.Defer(func() { server.CloseClientConnections(); server.Close(); _ = log.Close() })
	return server
}

// sendKept answers with what was kept of an answer: all of it, status line first.
func sendKept(w http.ResponseWriter, r *http.Request, kept io.Reader) {
	res, err := http.ReadResponse(bufio.NewReader(kept), r)
	if err != nil {
		panic(err)
	}
	defer res.Body.Close()
	maps.Copy(w.Header(), res.Header)
	w.WriteHeader(res.StatusCode)
	_, _ = io.Copy(w, res.Body)
}
