package rg

import (
	"context"
	"path/filepath"
	"sync"
	"sync/atomic"
)

// A dirNode is a directory of a walk. It stays open until everything in it
// has been opened.
type dirNode struct {
	handle dirHandle
	open   atomic.Int32 // who still needs the handle
	path   string       // below the walk's root, with a final slash; "" for the root
	rules  *level
	root   *walkRoot
	up     *dirNode // the directory above, kept only where links are followed
	id     fileStat
}

func (d *dirNode) release() {
	if d.open.Add(-1) == 0 {
		d.handle.close()
	}
}

// A walkRoot is a directory the caller named.
type walkRoot struct {
	abs  string // absolute path, without a final separator except for the file system's root
	show string // what paths below it are shown with in front; "" or with a final slash
	dev  uint64
}

func (r *walkRoot) shown(dir string, name []byte) string {
	return r.show + dir + string(name)
}

// absolute is the path of an entry for the file system.
func (r *walkRoot) absolute(dir string, name []byte) string {
	return filepath.Join(r.abs, filepath.FromSlash(dir+string(name)))
}

// A batch is some of the files of one directory.
type batch struct {
	dir   *dirNode
	names []byte // each with its length in front, in two bytes
}

func (b *batch) add(name []byte) {
	if b.names == nil {
		b.names = make([]byte, 0, batchFiles*16)
	}
	b.names = append(b.names, byte(len(name)), byte(len(name)>>8))
	b.names = append(b.names, name...)
}

func (b *batch) each(visit func(name []byte) bool) {
	for rest := b.names; len(rest) > 0; {
		n := int(rest[0]) | int(rest[1])<<8
		if !visit(rest[2 : 2+n]) {
			return
		}
		rest = rest[2+n:]
	}
}

const batchFiles = 64

// A task is a directory to open and list, or a batch of files to visit.
type task struct {
	dir    *dirNode
	name   string // the directory below dir; "" for a batch
	isRoot bool   // dir itself is to be listed
	batch
}

// A walker runs tasks on several goroutines. The first works alone until there
// is enough to share, since a small tree is done before a second has started.
type walker struct {
	opt     *WalkOptions
	filter  *pathFilter
	visit   func(w *walkWorker, b *batch) // called on many goroutines
	newWork func() any                    // makes what visit keeps for each worker

	mu      sync.Mutex
	wake    sync.Cond
	stack   []task
	waiting int
	workers int
	spawned int
	over    bool
	done    sync.WaitGroup

	stop    atomic.Bool
	entries atomic.Int64
	limited atomic.Bool // the budget of entries is spent
	skips   skipList
	all     []*walkWorker
}

// A walkWorker is one goroutine of a walk with its buffers.
type walkWorker struct {
	w     *walker
	local []task
	list  listing
	name  nameBuf
	file  fileHandle // the one that is being searched
	plain bool       // files of the present batch read as dirHandle.localFS says
	seen  int        // entries since it started
	work  any
}

// shareAfter is how many entries the first worker sees before it asks for help.
const shareAfter = 128

func (w *walker) run(ctx context.Context, roots []task) {
	defer context.AfterFunc(ctx, func() { w.stop.Store(true) })()
	w.wake.L = &w.mu
	w.stack = roots
	w.spawned = 1
	w.newWorker().loop()
	w.done.Wait()
}

func (w *walker) newWorker() *walkWorker {
	worker := &walkWorker{w: w}
	if w.newWork != nil {
		worker.work = w.newWork()
	}
	w.mu.Lock()
	w.all = append(w.all, worker)
	w.mu.Unlock()
	return worker
}

func (k *walkWorker) loop() {
	for {
		t, ok := k.take()
		if !ok {
			return
		}
		k.do(t)
	}
}

// take gives the next task; it is false when there will be none.
func (k *walkWorker) take() (task, bool) {
	if n := len(k.local); n > 0 {
		t := k.local[n-1]
		k.local[n-1] = task{}
		k.local = k.local[:n-1]
		return t, true
	}
	w := k.w
	w.mu.Lock()
	defer w.mu.Unlock()
	for {
		if n := len(w.stack); n > 0 {
			t := w.stack[n-1]
			w.stack[n-1] = task{}
			w.stack = w.stack[:n-1]
			return t, true
		}
		if w.over {
			return task{}, false
		}
		w.waiting++
		if w.waiting == w.spawned {
			w.over = true
			w.wake.Broadcast()
			return task{}, false
		}
		w.wake.Wait()
		w.waiting--
	}
}

// put hands out tasks: half of them to others when those have little to do.
func (k *walkWorker) put(tasks []task) {
	if len(tasks) == 0 {
		return
	}
	w := k.w
	const plenty = 16
	if k.seen >= shareAfter && w.workers > 1 {
		w.mu.Lock()
		if len(w.stack) < plenty {
			half := (len(tasks) + 1) / 2
			if len(k.local) == 0 && len(tasks) == 1 {
				half = 0
			}
			w.stack = append(w.stack, tasks[:half]...)
			tasks = tasks[half:]
			for range min(half, w.waiting) {
				w.wake.Signal()
			}
			for ; half > 0 && w.spawned < w.workers; half-- {
				w.spawned++
				w.done.Go(func() { w.newWorker().loop() })
			}
		}
		w.mu.Unlock()
	}
	k.local = append(k.local, tasks...)
}

func (k *walkWorker) do(t task) {
	if t.isRoot {
		if k.w.stop.Load() {
			t.dir.release()
			return
		}
		k.listDir(t.dir)
		return
	}
	if t.name == "" {
		if !k.w.stop.Load() {
			k.w.visit(k, &t.batch)
		}
		t.batch.dir.release()
		return
	}
	defer t.dir.release()
	if k.w.stop.Load() {
		return
	}
	d, ok := k.openDir(t.dir, t.name)
	if ok {
		k.listDir(d)
	}
}
