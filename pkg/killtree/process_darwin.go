package killtree

import "golang.org/x/sys/unix"

func find(pid int) (Process, bool) {
	k, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil {
		return Process{}, false
	}
	p := entry(k)
	return p, p.Pid == pid
}

func entry(k *unix.KinfoProc) Process {
	at := k.Proc.P_starttime
	p := Process{
		Pid: int(k.Proc.P_pid), Parent: int(k.Eproc.Ppid), Group: int(k.Eproc.Pgid),
		Start: uint64(at.Sec)*1e6 + uint64(at.Usec), Name: unix.ByteSliceToString(k.Proc.P_comm[:]),
	}
	const zombie, stopped = 5, 4 // SZOMB and SSTOP of sys/proc.h
	switch k.Proc.P_stat {
	case zombie:
		p.State = 'Z'
	case stopped:
		p.State = 'T'
	}
	return p
}

func table() []Process {
	all, err := unix.SysctlKinfoProcSlice("kern.proc.all")
	if err != nil {
		return nil
	}
	list := make([]Process, len(all))
	for i := range all {
		list[i] = entry(&all[i])
	}
	return list
}

func descendants(root int) []Process { return living(descent(table(), root)) }

func (p Process) send(s unix.Signal) {
	if p.Alive() {
		_ = unix.Kill(p.Pid, s)
	}
}
