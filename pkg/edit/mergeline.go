package edit

import (
	"slices"
	"strings"
)

// mergeLine does to the file's line what the call does to its own: old became
// new. The lines have no indentation. It fails where the file differs from
// old right where new does.
func mergeLine(old, new, file string) (string, bool) {
	if old == file {
		return new, true
	}
	to, tn, tf := tokens(old), tokens(new), tokens(file)
	if out, ok := mergeTokens(to, tn, tf, compareStrings(to, tf)); ok {
		return out, true
	}
	if both := pairSolid(to, tf); both != nil { // blanks were paired, and not the words between them
		return mergeTokens(to, tn, tf, both)
	}
	return "", false
}

// pairSolid pairs the tokens of two lines that differ in blanks and typography alone; nil where
// others differ.
func pairSolid(a, b []string) []op {
	var out []op
	for i, j := 0, 0; i < len(a) || j < len(b); {
		o := op{i1: i, j1: j}
		for i < len(a) && tight(a[i]) == "" {
			i++
		}
		for j < len(b) && tight(b[j]) == "" {
			j++
		}
		if o.i2, o.j2 = i, j; o.i1 < i || o.j1 < j {
			out = append(out, o)
			continue
		}
		if i == len(a) || j == len(b) || tight(a[i]) != tight(b[j]) {
			return nil
		}
		i, j = i+1, j+1
		out = append(out, op{true, o.i1, i, o.j1, j})
	}
	return out
}

// mergeTokens is mergeLine, by how the tokens of the file's line are those of the call's.
func mergeTokens(to, tn, tf []string, both []op) (string, bool) {
	same := make([]string, len(to)) // each token as the file has it
	copy(same, to)
	for _, o := range both {
		if o.equal {
			copy(same[o.i1:o.i2], tf[o.j1:o.j2])
		}
	}
	mine, theirs := changes(to, tn), slices.DeleteFunc(both, func(o op) bool { return o.equal })
	for _, b := range theirs {
		if loosen(tight(strings.Join(to[b.i1:b.i2], ""))) == loosen(tight(strings.Join(tf[b.j1:b.j2], ""))) {
			continue // blanks and typography do not conflict
		}
		for _, a := range mine {
			if a.i1 <= b.i2 && b.i1 <= a.i2 {
				return "", false
			}
		}
	}
	var out strings.Builder
	write := func(ts []string) {
		for _, t := range ts {
			out.WriteString(t)
		}
	}
	for i := 0; i <= len(to); {
		switch {
		case len(mine) > 0 && mine[0].i1 == i:
			if a := mine[0]; len(theirs) > 0 && theirs[0].i2 == i && a.i1 < a.i2 && a.j1 < a.j2 {
				write(tf[theirs[0].j1:theirs[0].j2]) // blanks before a word that becomes another
			}
			write(tn[mine[0].j1:mine[0].j2])
			i = mine[0].i2
			mine = mine[1:]
			for len(theirs) > 0 && theirs[0].i1 < i {
				theirs = theirs[1:]
			}
		case len(theirs) > 0 && theirs[0].i1 == i:
			if b := theirs[0]; len(mine) == 0 || mine[0].i1 >= b.i2 {
				write(tf[b.j1:b.j2])
				i = b.i2
			}
			theirs = theirs[1:]
		case i < len(to):
			out.WriteString(same[i])
			fallthrough
		default:
			i++
		}
	}
	return out.String(), true
}

// changes are the stretches where a and b differ.
func changes(a, b []string) []op {
	return slices.DeleteFunc(compareStrings(a, b), func(o op) bool { return o.equal })
}

const (
	mostPaired = 1 << 14 // cells up to which every removed line is compared with every added one
	pairedNear = 24      // beyond, how far apart they may be
	versionSim = 0.5     // two lines that are versions of each other
)

// versions finds for added lines the removed line that each is a version of;
// the pairs are in order. -1 is none.
func versions(removed, added []*form) []int {
	n, m := len(removed), len(added)
	of := make([]int, m)
	for j := range of {
		of[j] = -1
	}
	if n == 0 || m == 0 || n*m > 1<<22 {
		return of
	}
	sim := make([]float32, n*m)
	best := make([]float32, (n+1)*(m+1))
	for i, a := range removed {
		for j, b := range added {
			if !a.blank && !b.blank && (n*m <= mostPaired || max(i*m/n-j, j-i*m/n) <= pairedNear) {
				if s := float32(similar(a, b)); s >= versionSim {
					sim[i*m+j] = s
				}
			}
			best[(i+1)*(m+1)+j+1] = max(best[i*(m+1)+j+1], best[(i+1)*(m+1)+j], best[i*(m+1)+j]+sim[i*m+j])
		}
	}
	for i, j := n, m; i > 0 && j > 0; {
		switch best[i*(m+1)+j] {
		case best[(i-1)*(m+1)+j]:
			i--
		case best[i*(m+1)+j-1]:
			j--
		default:
			i, j = i-1, j-1
			of[j] = i
		}
	}
	return of
}
