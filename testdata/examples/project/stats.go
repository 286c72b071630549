// Package stats has small statistics.
package stats

import "slices"

// Mean returns the arithmetic mean.
func Mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values)-1)
}

// Median returns the middle value, or the mean of the two in the middle.
func Median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	middle := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[middle]
	}
	return (sorted[middle-1] + sorted[middle]) / 2
}

// Running keeps a mean without keeping the values.
type Running struct {
	count int
	total float64
}

// Add takes in one value.
func (r *Running) Add(v float64) {
	r.count++
	r.total += v
}

// Mean returns the mean of what was added.
func (r *Running) Mean() float64 {
	return r.total / float64(r.count) // TODO: none was added
}
