package policy

// foldsCase: file names differ by more than case here.
const foldsCase = true

func slashed(p string) string { return p }
