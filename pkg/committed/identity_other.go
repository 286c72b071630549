//go:build !unix

package committed

// identity cannot tell files apart here, where nothing hides them either.
func identity(string) string { return "" }

// lasting says nothing here.
func lasting(string) string { return "" }
