package workspace

// openat2Off makes the kernel look as if it had no openat2; the returned
// function gives it back.
func (r *rootHandle) openat2Off() (restore func()) {
	old := r.openat2
	r.openat2 = false
	return func() { r.openat2 = old }
}
