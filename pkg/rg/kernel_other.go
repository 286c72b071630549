//go:build !amd64

package rg

func (f *literalFinder) scanPair(_ []byte, pos int) (int, bool) { return pos, false }

func (m *maskTable) scan(_ []byte, pos int) (int, uint32, bool) { return pos, 0, false }

func (m *maskTable) scanOne(_ []byte, pos int) (int, uint64, bool) { return pos, 0, false }
