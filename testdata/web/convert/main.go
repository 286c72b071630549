// Convert turns pages into Markdown for the measurements beside it. It reads lines of
// JSON, {"file","url","main"}, and answers each with {"text","kind","cpu_ms","warnings"}.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"strings"
	"syscall"

	"github.com/agentkit-go/agentkit/pkg/page"
)

type request struct{ File, URL, Main, Format string }

type answer struct {
	Text     string   `json:"text"`
	Kind     string   `json:"kind"`
	Title    string   `json:"title"`
	CPU      float64  `json:"cpu_ms"`
	Warnings []string `json:"warnings"`
	Hidden   int      `json:"hidden"`
}

func main() {
	in, out := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	out.SetEscapeHTML(false)
	for {
		var q request
		if in.Decode(&q) != nil {
			fmt.Fprintln(os.Stderr, "HWM", peak())
			return
		}
		a, err := convert(q)
		if err != nil {
			fmt.Fprintln(os.Stderr, q.File, err)
			os.Exit(1)
		}
		if err := out.Encode(a); err != nil {
			os.Exit(1)
		}
	}
}

func convert(q request) (answer, error) {
	body, err := os.ReadFile(q.File)
	if err != nil {
		return answer{}, err
	}
	u, err := url.Parse(q.URL)
	if err != nil {
		return answer{}, err
	}
	before := cpu()
	d, err := page.Convert(context.Background(), page.Source{Body: body, Type: "text/html", URL: u}, page.Options{Main: page.Main(q.Main), Format: page.Format(q.Format)})
	if err != nil {
		return answer{}, err
	}
	return answer{d.Text, d.Kind, d.Title, cpu() - before, d.Warnings, d.HiddenRemoved}, nil
}

// peak is the most memory that the process had, in kB, or 0 where that is not told.
func peak() int {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	n := 0
	fmt.Sscan(rest, &n)
	return n
}

// cpu is the processor time of this process so far, in milliseconds.
func cpu() float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e6
}
