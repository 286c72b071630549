package cmd

// listed is a name as it stands in a listing; most hide nothing.
func listed(name string) string {
	for i := range len(name) {
		if name[i] < ' ' || name[i] > '~' {
			return visibleName(name)
		}
	}
	return name
}
