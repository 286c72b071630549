//go:build !linux

package change

import "io/fs"

// places are on Linux only: elsewhere no rename exchanges two names that undo could rely on.
type places struct{ root string }

func openPlaces(string, string) (*places, error)         { return nil, errApart }
func (p *places) close()                                 {}
func (p *places) look(string) (State, error)             { return State{}, errApart }
func (p *places) entry(string) (State, error)            { return State{}, errApart }
func (p *places) swap(*File) error                       { return errApart }
func (p *places) mkdir(string) error                     { return errApart }
func (p *places) rmdir(string) error                     { return errApart }
func (p *places) chmod(string, fs.FileMode) error        { return errApart }
func (p *places) put(string, *Target) (s State, e error) { return s, errApart }
func (p *places) name(string) string                     { return "" }
