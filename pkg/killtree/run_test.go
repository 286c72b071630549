package killtree

import (
	"bufio"
	"os"
	"os/exec"
	"testing"
)

// run starts a command and returns its tree and what it prints.
func run(t *testing.T, argv ...string) (*Tree, *bufio.Reader) {
	t.Helper()
	c := exec.Command(argv[0], argv[1:]...)
	out, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	c.Stdout = in
	tree, err := (Options{}).Start(c)
	if err != nil {
		t.Fatal(err)
	}
	_ = in.Close()
	t.Cleanup(func() {
		tree.End(0)
		_ = out.Close()
	})
	return tree, bufio.NewReader(out)
}
