package files

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/agentkit-go/agentkit/pkg/notebook"
	"github.com/agentkit-go/agentkit/pkg/tool"
)

// TestUnblock checks that a file that gives nothing does not hold a call that
// is interrupted.
func TestUnblock(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("pipes have no deadlines on Windows")
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	reason := errors.New("enough")
	ctx, cancel := context.WithCancelCause(context.Background())
	defer unblock(ctx, r)()
	time.AfterFunc(20*time.Millisecond, func() { cancel(reason) })
	_, err = r.Read(make([]byte, 1))
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatal(err)
	}
	call, meta := &readCall{}, &readMeta{Path: "a"}
	if err := call.readError(ctx, meta, err); !errors.Is(err, reason) {
		t.Errorf("%v", err)
	}
	err = call.readError(context.Background(), meta, err)
	if e, ok := errors.AsType[*tool.Error](err); !ok || e.Code != tool.Timeout {
		t.Errorf("%v", err)
	}
}

func TestImageSize(t *testing.T) {
	tests := []struct {
		name, data    string
		width, height int
	}{
		{"png", "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x02\x80\x00\x00\x01\xe0", 640, 480},
		{"gif", "GIF89a\x80\x02\xe0\x01", 640, 480},
		{"jpeg", "\xff\xd8\xff\xe0\x00\x04ab\xff\xff\xc2\x00\x11\x08\x01\xe0\x02\x80\x03", 640, 480},
		{"jpeg with tables first", "\xff\xd8\xff\xc4\x00\x09\x01\xe0\x02\x80\x03\x00\x00\xff\xc0\x00\x11\x08\x00\x02\x00\x03\x03", 3, 2},
		{"webp", "RIFF\x00\x00\x00\x00WEBPVP8 \x00\x00\x00\x00\x00\x00\x00\x9d\x01\x2a\x80\x02\xe0\x01", 640, 480},
		{"webp without loss", "RIFF\x00\x00\x00\x00WEBPVP8L\x00\x00\x00\x00\x2f\x7f\xc2\x77\x00", 640, 480},
		{"webp with more", "RIFF\x00\x00\x00\x00WEBPVP8X\x0a\x00\x00\x00\x00\x00\x00\x00\x7f\x02\x00\xdf\x01\x00", 640, 480},
		{"something else", "BM", 0, 0},
		{"nothing", "", 0, 0},
	}
	for _, test := range tests {
		if w, h := imageSize([]byte(test.data)); w != test.width || h != test.height {
			t.Errorf("%s: %d x %d", test.name, w, h)
		}
		for range 2000 { // whatever is damaged, there is an answer
			data := []byte(test.data)
			if len(data) > 0 {
				data[rand.IntN(len(data))] = byte(rand.IntN(256))
				data = data[:rand.IntN(len(data)+1)]
			}
			imageSize(data)
		}
	}
}

func TestParseSpans(t *testing.T) {
	tests := []struct {
		words []string
		want  string // "" for an error
	}{
		{[]string{"1"}, "1"},
		{[]string{"10-20", "5-"}, "5-"},
		{[]string{"30-", "10-20,1"}, "1 10-20 30-"},
		{[]string{"1-3", "4-6"}, "1-6"},
		{[]string{"1-3", "5-6"}, "1-3 5-6"},
		{[]string{"2-9", "3-4"}, "2-9"},
		{[]string{" 7 - 8 "}, "7-8"},
		{[]string{"0"}, ""},
		{[]string{"-5"}, ""},
		{[]string{"5-4"}, ""},
		{[]string{"a"}, ""},
		{[]string{""}, ""},
		{[]string{"1-2-3"}, ""},
		{[]string{"99999999999999999999"}, ""},
	}
	for _, test := range tests {
		spans, err := parseSpans("ranges", test.words)
		var got []string
		for _, s := range spans {
			got = append(got, s.String())
		}
		if strings.Join(got, " ") != test.want || (err != nil) != (test.want == "") {
			t.Errorf("%q: %q, %v; want %q", test.words, got, err, test.want)
		}
	}
}

// TestNotebookMetadata: what metadata says of a notebook is bounded, however many cells it
// has and whatever they are called.
func TestNotebookMetadata(t *testing.T) {
	n := &notebook.Notebook{Cells: make([]notebook.Cell, 3*maxCells)}
	var meta readNotebook
	if shown, _ := renderNotebook(n, &meta, "x"); len(meta.Cells) != maxCells || strings.Count(shown, "\n") < 3*maxCells {
		t.Errorf("%d cells are listed", len(meta.Cells))
	}
	n.Cells[1].ID = strings.Repeat("x", maxCellBytes)
	meta = readNotebook{}
	n.Cells[1].Type = "code"
	if renderNotebook(n, &meta, "x"); len(meta.Cells) != 1 {
		t.Errorf("%d cells are listed", len(meta.Cells))
	}
}
