// Package fork makes child processes that carry out a list of system calls and
// then become a program, without a second start of our own program between.
//
// Starting our own program again costs two milliseconds and more, most of it
// Go's and the loader's own. A child of clone needs a fraction of one. But it
// is the copy of one thread of a program that has many: no scheduler, no
// memory allocation, no garbage collection, no growth of the stack works in
// it. So everything that it is to do is written down before, as a [Plan], and
// one small function carries that out.
//
// It exists on Linux, on the machines whose parameters of system calls it was
// checked for; elsewhere the package is empty.
package fork

// What an init, and the stage of killtree, is told over its link: two bytes, a
// letter and a signal. When the other end of the link is closed it ends
// everything.
const (
	SignalGroup = 'g' // the signal to the process group that the command began as
	SignalAll   = 'a' // the signal to everything
	KillAll     = 'k' // end everything now
)

// What they tell of the command.
const (
	Stopped = 'p' // it was stopped
	Ended   = 'e' // it has ended
)
