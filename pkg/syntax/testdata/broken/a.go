package a

func one(a int) int {
	if a > 1 {
		return call("x", []int{a})
	}
	return a
}

// two is next.
func two(b string) string {
	for range 3 {
		b += "y"
	}
	return b
}

type box struct {
	width int
}

// three is last.
func three() int {
	return one(3)
}
