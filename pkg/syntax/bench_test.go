package syntax

import (
	"os"
	"testing"
)

func BenchmarkOutline(b *testing.B) {
	for _, file := range []string{"shapes.py", "shapes.ts", "shapes.cpp", "shapes.go.txt", "data.yaml", "doc.md"} {
		data, err := os.ReadFile("testdata/" + file)
		if err != nil {
			b.Fatal(err)
		}
		name := file
		if file == "shapes.go.txt" {
			name = "shapes.go"
		}
		if _, err := Outline(name, data); err != nil {
			b.Logf("%s: %v", file, err)
			continue
		}
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				if _, err := Outline(name, data); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkNew(b *testing.B) {
	data, err := os.ReadFile("testdata/shapes.py")
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		New("shapes.py", data, data)
	}
}
