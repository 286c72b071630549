package machine

// Installed reports which of the programs LookPath finds. They are names without a
// directory.
func Installed(names []string, path, dir string) map[string]bool {
	return installed(names, path, dir)
}
