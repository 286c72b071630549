package programs

// Each calls f with every record.
func Each(f func(*Record)) { records(f) }
