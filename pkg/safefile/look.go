package safefile

// A Look is what tells a file from all others, and from itself after a change: the times are
// in nanoseconds, and that of the last change of any kind no program can set on a usual file
// system. It is zero where the system does not tell all of it.
type Look struct {
	Dev, Ino           uint64
	CTime, MTime, Size int64
}
