//go:build unix && race

package job

const raceDetector = true
