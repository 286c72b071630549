package killtree

import (
	"os"
	"os/exec"
	"sync"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

const (
	unstaged = JobObject
	sigcont  = syscall.Signal(18)
)

func candidates() []string { return nil }

func probe(Options, string) error { return ErrMethod }

// stage does nothing: the kernel's job objects need none.
func stage([]string, Confiner) int { return 125 }

// object is the backend with a Job Object. The last handle to it is ours, so
// the kernel ends everything in it when we are gone, however that happens.
type object struct {
	cmd *exec.Cmd
	mu  sync.Mutex
	job windows.Handle // 0 when closed
}

func launch(m string, c *exec.Cmd, o Options) (backend, error) {
	if m != JobObject || len(o.Confine) > 0 {
		return nil, ErrMethod
	}
	if c.SysProcAttr == nil {
		c.SysProcAttr = &syscall.SysProcAttr{}
	}
	if err := quoteForCmd(c); err != nil {
		return nil, err
	}
	job, err := newObject(o.MaxProcesses)
	if err != nil {
		return nil, err
	}
	if cp, _ := windows.GetConsoleCP(); cp == 0 {
		c.SysProcAttr.CreationFlags |= windows.CREATE_NO_WINDOW // without a console of ours it would open one
	}
	// Suspended until it is in the job: what it starts before would be out.
	c.SysProcAttr.CreationFlags |= windows.CREATE_SUSPENDED | windows.CREATE_NEW_PROCESS_GROUP
	if err := c.Start(); err != nil {
		_ = windows.CloseHandle(job)
		return nil, err
	}
	if err := enter(job, c.Process.Pid); err != nil {
		_ = c.Process.Kill()
		_ = c.Wait()
		_ = windows.CloseHandle(job)
		return nil, err
	}
	return &object{cmd: c, job: job}, nil
}

func newObject(most int) (windows.Handle, error) {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return 0, err
	}
	var limit windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION
	limit.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	if most > 0 {
		limit.BasicLimitInformation.LimitFlags |= windows.JOB_OBJECT_LIMIT_ACTIVE_PROCESS
		limit.BasicLimitInformation.ActiveProcessLimit = uint32(most)
	}
	_, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation, uintptr(unsafe.Pointer(&limit)), uint32(unsafe.Sizeof(limit)))
	if err != nil {
		_ = windows.CloseHandle(job)
		return 0, err
	}
	return job, nil
}

// enter puts a suspended process into the job and lets it run.
func enter(job windows.Handle, pid int) error {
	p, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE|windows.PROCESS_SUSPEND_RESUME, false, uint32(pid))
	if err != nil {
		return err
	}
	defer windows.CloseHandle(p)
	if err := windows.AssignProcessToJobObject(job, p); err != nil {
		return err
	}
	resume := windows.NewLazySystemDLL("ntdll.dll").NewProc("NtResumeProcess")
	if err := resume.Find(); err != nil {
		return err
	}
	if status, _, _ := resume.Call(uintptr(p)); status != 0 {
		return windows.NTStatus(status)
	}
	return nil
}

func (b *object) wait(*Tree) (*State, error) {
	err := b.cmd.Wait()
	return stateOf(b.cmd.ProcessState), waitError(err)
}

func (b *object) pid() int { return b.cmd.Process.Pid }

func (b *object) collected() <-chan struct{} { return nil }

// alive counts the processes in the job, and lets go of it after the last.
func (b *object) alive(ended bool) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.job == 0 {
		return !ended
	}
	var n struct { // JOBOBJECT_BASIC_ACCOUNTING_INFORMATION
		userTime, kernelTime, periodUser, periodKernel int64
		faults, total, active, terminated              uint32
	}
	err := windows.QueryInformationJobObject(b.job, windows.JobObjectBasicAccountingInformation, uintptr(unsafe.Pointer(&n)), uint32(unsafe.Sizeof(n)), nil)
	if !ended || err == nil && n.active > 0 {
		return true
	}
	_ = windows.CloseHandle(b.job)
	b.job = 0
	return false
}

// signal knows one signal, the console's break, and only for programs with a
// console of ours; the others cannot be asked.
func (b *object) signal(s syscall.Signal, _ bool) {
	if s == syscall.SIGTERM || s == syscall.SIGINT {
		_ = windows.GenerateConsoleCtrlEvent(windows.CTRL_BREAK_EVENT, uint32(b.pid()))
	}
}

func (b *object) kill() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.job != 0 {
		_ = windows.TerminateJobObject(b.job, 137)
	}
}

// fill adds nothing: the rest of the state is Unix'.
func fill(*State, *os.ProcessState) {}

// find reads the time at which the process was created.
func find(pid int) (Process, bool) {
	h, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, uint32(pid))
	if err != nil {
		return Process{}, false
	}
	defer windows.CloseHandle(h)
	var created, exited, kernel, user windows.Filetime
	if err := windows.GetProcessTimes(h, &created, &exited, &kernel, &user); err != nil || exited.LowDateTime != 0 || exited.HighDateTime != 0 {
		return Process{}, false
	}
	return Process{Pid: pid, Start: uint64(created.Nanoseconds())}, true
}

// endHeld kills the holder, whose handle is the last one of the Job Object.
func endHeld(_ string, holder, _ Process) {
	h, err := windows.OpenProcess(windows.PROCESS_TERMINATE, false, uint32(holder.Pid))
	if err != nil {
		return
	}
	defer windows.CloseHandle(h)
	if now, ok := find(holder.Pid); ok && now.Start == holder.Start {
		_ = windows.TerminateProcess(h, 137)
	}
}

func descendants(root int) []Process {
	if p, ok := find(root); ok {
		return []Process{p}
	}
	return nil
}
