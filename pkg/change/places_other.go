//go:build !linux

package change

import "io/fs"

// places are on Linux only: elsewhere no rename exchanges two names that undo could rely on.
type places struct{ root string }

func onOneMount(string, string) bool                     { return false }
func openPlaces(string, string) (*places, error)         { return nil, ErrApart }
func (p *places) close()                                 {}
func (p *places) look(string) (State, error)             { return State{}, ErrApart }
func (p *places) entry(string) (State, error)            { return State{}, ErrApart }
func (p *places) swap(*File) error                       { return ErrApart }
func (p *places) mkdir(string) error                     { return ErrApart }
func (p *places) rmdir(string) error                     { return ErrApart }
func (p *places) chmod(string, fs.FileMode) error        { return ErrApart }
func (p *places) put(string, *Target) (s State, e error) { return s, ErrApart }
func (p *places) name(string) string                     { return "" }
