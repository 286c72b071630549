//go:build unix

package killtree

// descent orders what descends from root, root first, each before its
// children.
func descent(table []Process, root int) []Process {
	children := make(map[int][]int, len(table)) // indexes by parent
	var out []Process
	for i, p := range table {
		if p.Pid == root {
			out = append(out, p)
		}
		children[p.Parent] = append(children[p.Parent], i)
	}
	if len(out) == 0 {
		out = append(out, Process{Pid: root})
	}
	for i := 0; i < len(out) && i <= len(table); i++ {
		for _, at := range children[out[i].Pid] {
			if table[at].Pid != root {
				out = append(out, table[at])
			}
		}
	}
	return out
}

// living leaves out the dead.
func living(list []Process) []Process {
	out := list[:0]
	for _, p := range list {
		if p.State != 'Z' && p.State != 'X' {
			out = append(out, p)
		}
	}
	return out
}
