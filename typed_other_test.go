//go:build !linux

package main

// typist is for pseudo-terminals of Linux, as ttyin is here.
func typist() {}
