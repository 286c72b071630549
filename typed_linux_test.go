package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/creack/pty"
)

// typist is the command typed: it runs a program on a terminal of its own, as a person would: each time that
// agentkit asks something, it types the next line of its own terminal, which is the
// file of ttyin. What is typed before a question is asked is no answer to it, and ttyin
// alone types everything at the start. With -ahead it is a person who types too much: a
// y before the program has begun, and one more behind each answer.
//
//	ttyin answers
//	exec typed agentkit --ask bash 'make x'
func typist() {
	args, ahead := os.Args[1:], ""
	if args[0] == "-ahead" {
		args, ahead = args[1:], "y\n"
	}
	status, err := typing(args, ahead)
	if err != nil {
		fmt.Fprintln(os.Stderr, "typed:", err)
		status = 99
	}
	os.Exit(status)
}

func typing(args []string, ahead string) (status int, err error) {
	mine, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		return 0, err
	}
	keyboard, tty, err := pty.Open()
	if err != nil {
		return 0, err
	}
	c := exec.Command(args[0], args[1:]...)
	c.Stdin, c.Stdout, c.Stderr = os.Stdin, os.Stdout, os.Stderr
	c.ExtraFiles = []*os.File{tty}
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 3}
	if _, err := io.WriteString(keyboard, ahead); err != nil {
		return 0, err
	}
	if err := c.Start(); err != nil {
		return 0, err
	}
	shown := make(chan struct{})
	go func() {
		defer close(shown)
		typeAnswers(keyboard, mine, ahead)
	}()
	waited := c.Wait()
	err = tty.Close() // with it the last name of that end, and what it shows ends
	<-shown
	if exit, ok := errors.AsType[*exec.ExitError](waited); ok {
		return exit.ExitCode(), err
	}
	return 0, errors.Join(waited, err)
}

// typeAnswers shows what a program shows, and types an answer to each question. What is shown comes in pieces, and what
// is typed before a question stands there is dropped: so a piece may look like one, and it is one when nothing more comes.
func typeAnswers(keyboard, mine *os.File, ahead string) {
	pieces := make(chan []byte)
	go func() {
		defer close(pieces)
		for {
			buf := make([]byte, 4096)
			n, err := keyboard.Read(buf)
			pieces <- buf[:n]
			if err != nil {
				return
			}
		}
	}()
	answers, line := bufio.NewReader(mine), ""
	for {
		var quiet <-chan time.Time
		if strings.HasPrefix(line, "agentkit: ") && strings.HasSuffix(line, ": ") {
			quiet = time.After(50 * time.Millisecond)
		}
		select {
		case piece, more := <-pieces:
			if !more {
				return
			}
			_, _ = mine.Write(bytes.ReplaceAll(piece, []byte("\r"), nil)) // which this terminal adds, too
			if line += string(piece); strings.Contains(line, "\n") {
				line = line[strings.LastIndex(line, "\n")+1:]
			}
			continue
		case <-quiet:
		}
		line = ""
		next, err := answers.ReadString('\n')
		if err != nil {
			next = "\x04" // nobody is there any more
		} else {
			next += ahead
		}
		_, _ = io.WriteString(keyboard, next)
	}
}
