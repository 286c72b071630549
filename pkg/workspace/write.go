package workspace

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/agentkit-go/agentkit/pkg/safefile"
)

// WriteOptions refine a write. The zero value creates or replaces the file.
type WriteOptions struct {
	Mode        *fs.FileMode // permission bits (with setuid, setgid, sticky); nil keeps them, or 0666 minus umask for a new file
	Version     string       // that of what is written, where the caller knows it
	IfVersion   string       // refuse with a *ConflictError unless the file has this Version; "" does not look
	Was         []byte       // the content of that Version, where the caller has it; nil otherwise
	CreateOnly  bool         // refuse with fs.ErrExist when the file exists
	MakeParents bool         // create missing directories above it, 0777 minus umask
	Lock        *Lock        // a lock on the file that the caller holds; nil takes one for the time of the write
}

// Written says what a write did.
type Written struct {
	Created bool        // the file did not exist
	Bytes   int64       // its size now
	Version string      // its Version now
	Mode    fs.FileMode // its permission bits now
	InPlace bool        // it was overwritten, not replaced, see WriteFile
	Made    []string    // directories that were created, outermost first
	Lost    []string    // what could not be kept: "owner", names of extended attributes
}

// WriteFile makes data the content of the file. A file that is linked to is
// replaced where it is; the link stays a link.
//
// The data is written to a new file in the same directory, synced and renamed
// over the old one, so that at any instant the old or the new content is
// there, also after a crash or on a full disk. Mode, owner, extended
// attributes and ACLs are kept where the system lets us. A file that cannot
// be replaced is overwritten instead: one with several hard links, a mount
// point, one in a directory that we may not write. That is not atomic (a
// failure puts the old bytes back, a crash cannot); Written.InPlace tells.
//
// Errors: ErrReadOnly (no write bit, also for root), ErrIsDir,
// ErrNotRegular, ErrMoved, fs.ErrExist, fs.ErrNotExist (a missing parent), a
// *ConflictError, and what the system says.
func (w *Workspace) WriteFile(ctx context.Context, p Path, data []byte, o WriteOptions) (Written, error) {
	return w.WriteFrom(ctx, p, bytes.NewReader(data), o)
}

// WriteFrom is WriteFile of all that r gives. An error of r leaves the old
// file. A file that must be overwritten in place is held in memory.
func (w *Workspace) WriteFrom(ctx context.Context, p Path, r io.Reader, o WriteOptions) (Written, error) {
	if err := p.usable("writing"); err != nil {
		return Written{}, err
	}
	if endsAsDir(p.Given) || p.Real == w.root {
		return Written{}, fmt.Errorf("writing %s: %w", quote(p.Given), ErrIsDir)
	}
	if !o.Lock.covers(w, p) {
		l, err := w.Lock(ctx, p)
		if err != nil {
			return Written{}, err
		}
		defer l.Unlock()
	}
	c := change{opt: o, src: r}
	err := c.run(w, p)
	if errors.As(err, new(*ConflictError)) {
		return c.out, err
	}
	if err != nil {
		return c.out, fmt.Errorf("writing %s: %w", quote(p.Given), err)
	}
	return c.out, nil
}

// A change is one write on its way.
type change struct {
	opt WriteOptions
	out Written
	src io.Reader

	dir  dir
	name string
	path string      // real
	info fs.FileInfo // of the old file; nil when there is none
	old  *os.File    // the old file open for reading; nil when missing or not readable
}

func (c *change) run(w *Workspace, p Path) (err error) {
	c.path = p.Real
	parent, name := dirOf(p.Real)
	c.name = name
	if c.opt.MakeParents {
		c.out.Made, err = w.makeDirs(parent)
	}
	if err == nil {
		c.dir, err = w.openDir(parent)
	}
	if err != nil {
		return err
	}
	defer c.dir.close()
	if err := c.look(); err != nil {
		return err
	}
	if c.old != nil {
		defer c.old.Close()
	}
	if err := c.check(); err != nil {
		return err
	}
	if c.info != nil && fileLinks(c.old, c.info) > 1 {
		return c.overwrite(c.src)
	}
	return c.replace()
}

// look finds out what is there now.
func (c *change) look() (err error) {
	c.info, err = c.dir.stat(c.name)
	if errors.Is(err, fs.ErrNotExist) {
		c.info = nil
		return nil
	}
	if err != nil {
		return err
	}
	switch {
	case c.opt.CreateOnly:
		return fs.ErrExist
	case isLink(c.info):
		return fmt.Errorf("%w: it is a link now", ErrMoved)
	case c.info.IsDir():
		return ErrIsDir
	case !c.info.Mode().IsRegular():
		return fmt.Errorf("%w: it is a %s", ErrNotRegular, typeOf(c.info))
	}
	if err := c.dir.writable(c.name, c.info); err != nil {
		return err
	}
	f, err := c.dir.open(c.name, openFlags, 0)
	if errors.Is(err, fs.ErrPermission) {
		return nil // we may write but not read it
	}
	if err != nil {
		return err
	}
	if c.info, err = f.Stat(); err == nil && !c.info.Mode().IsRegular() {
		err = ErrNotRegular
	}
	if err != nil {
		_ = f.Close()
		return err
	}
	c.old = f
	return nil
}

// check compares the version.
func (c *change) check() error {
	if c.opt.IfVersion == "" {
		return nil
	}
	if c.info == nil {
		return &ConflictError{Path: c.path, Want: c.opt.IfVersion}
	}
	if c.old == nil {
		return fmt.Errorf("comparing its version: %w", fs.ErrPermission)
	}
	if c.opt.Was != nil && Holds(c.old, c.opt.Was) {
		return nil
	}
	have, err := VersionOf(c.old)
	if err != nil {
		return err
	}
	if have != c.opt.IfVersion {
		return &ConflictError{Path: c.path, Have: have, Want: c.opt.IfVersion}
	}
	return nil
}

// replace writes a new file and renames it over the old one.
func (c *change) replace() error {
	tmp, mode, err := c.create()
	if c.info != nil && (errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS)) {
		return c.overwrite(c.src) // the file may be written, its directory may not
	}
	if err != nil {
		return err
	}
	defer tmp.remove()
	if err := c.copy(tmp.f); err != nil {
		return err
	}
	if c.info != nil {
		if keepOwner(tmp.f, c.info) != nil {
			c.out.Lost = append(c.out.Lost, "owner")
		}
		if c.old != nil {
			c.out.Lost = append(c.out.Lost, keepAttrs(tmp.f, c.old)...)
		}
	}
	if err := setMode(tmp.f, mode); err != nil {
		return err
	}
	if err := tmp.f.Sync(); err != nil {
		return err
	}
	if err := c.unchanged(c.name); err != nil {
		return err
	}
	err = c.put(tmp)
	switch {
	case err == nil:
		c.out.Created = c.info == nil
		c.out.Mode = mode
	case errors.Is(err, fs.ErrExist) && c.info == nil && !c.opt.CreateOnly:
		return &ConflictError{Path: c.path, Have: c.present(c.name)}
	case errors.Is(err, syscall.EBUSY) && c.info != nil: // a mount point
		return c.overwrite(io.NewSectionReader(tmp.f, 0, c.out.Bytes))
	}
	return err
}

// copy writes the new content, and finds its version where that is not known.
func (c *change) copy(to io.Writer) (err error) {
	src, h := c.src, sha256.New()
	if c.opt.Version == "" {
		src = io.TeeReader(src, h)
	}
	c.out.Bytes, err = io.Copy(to, src)
	c.out.Version = cmp.Or(c.opt.Version, versionOf(h))
	return err
}

// put gives the new file its name, and sees to it that this lasts.
func (c *change) put(tmp *temp) error {
	if c.info != nil && c.opt.IfVersion != "" {
		if err := c.exchange(tmp); !errors.Is(err, errors.ErrUnsupported) {
			return err
		}
	}
	if c.old != nil {
		_ = c.old.Close() // Windows replaces no open file on FAT and on shares
	}
	if err := tmp.rename(c.name, c.info == nil); err != nil {
		return err
	}
	return c.dir.sync()
}

// mostWriting is how long somebody who has a file open for writing is waited for.
const mostWriting = 100 * time.Millisecond

// exchange gives the new file its name and the old one the temporary name. What
// somebody wrote into the old one at the last moment, when it had been compared
// already, is so seen, and the old file is put back. Who had it open may still write
// into it, so it is looked at when they have closed it, and once more: what those do
// who keep it open takes less time than the disk.
func (c *change) exchange(tmp *temp) error {
	mine, err := tmp.f.Stat()
	if err != nil {
		return err
	}
	if err := c.dir.exchange(tmp.name, c.name); err != nil {
		return err
	}
	awaitWriters(c.old)
	if err = c.unchanged(tmp.name); err == nil {
		if err = c.dir.sync(); err == nil {
			err = c.unchanged(tmp.name)
		}
	}
	if err == nil {
		return nil
	}
	if back := c.dir.exchange(tmp.name, c.name); back != nil {
		return errors.Join(c.save(tmp, err), back)
	}
	return errors.Join(c.carry(tmp, mine, err), c.dir.sync())
}

// awaitWriters waits until nobody has a file open for writing, for mostWriting at most.
func awaitWriters(f *os.File) {
	for end := time.Now().Add(mostWriting); writtenTo(f) && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
}

// carry sees to what others wrote into the new file while it had the name; mine is how it
// was made, and cause why it lost the name again. What they appended, as a log grows, is
// appended to the old file; what they wrote otherwise is saved. It returns cause, and what
// went wrong.
func (c *change) carry(tmp *temp, mine fs.FileInfo, cause error) error {
	theirs, err := c.dir.open(tmp.name, openFlags, 0)
	if err != nil {
		return c.save(tmp, errors.Join(cause, err))
	}
	defer theirs.Close()
	if err := tmp.f.Close(); err != nil { // we are no writer any more
		return c.save(tmp, errors.Join(cause, err))
	}
	awaitWriters(theirs)
	now, err := theirs.Stat()
	if err == nil && sameState(now, mine) {
		return cause
	}
	end := mine.Size()
	begins, hashErr := VersionOf(io.NewSectionReader(theirs, 0, end))
	if err != nil || hashErr != nil || now.Size() <= end || begins != c.out.Version {
		return c.save(tmp, cause)
	}
	old, err := c.dir.open(c.name, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return c.save(tmp, errors.Join(cause, err))
	}
	_, err = io.Copy(old, io.NewSectionReader(theirs, end, now.Size()-end))
	if err = errors.Join(err, old.Close()); err != nil {
		return c.save(tmp, errors.Join(cause, err))
	}
	return cause
}

// ErrSaved says that somebody else's writing did not stay in the file that it was meant for.
var ErrSaved = errors.New("others wrote to it twice in the same moment")

// save lets what has the temporary name stay, under a name that says what it
// is: it holds what somebody else wrote.
func (c *change) save(tmp *temp, cause error) error {
	name := c.name + ".saved-" + strings.ToLower(rand.Text()[:8])
	if err := tmp.rename(name, true); err != nil {
		name, tmp.name = tmp.name, ""
	}
	return errors.Join(fmt.Errorf("%w; %w: what one of them wrote is in %s", cause, ErrSaved, quote(join(c.dir.path, name))), c.dir.sync())
}

// create makes the temporary file and says which mode it is to have at last.
// The kernel alone knows what a new file gets (umask, the directory's default
// ACL), so the empty file is made with 0666 to learn it, and closed to others
// before the first byte.
func (c *change) create() (*temp, fs.FileMode, error) {
	perm := fs.FileMode(0o600)
	if c.info == nil && c.opt.Mode == nil {
		perm = 0o666
	}
	tmp, err := newTemp(c.dir, perm)
	if err != nil {
		return nil, 0, err
	}
	info := c.info
	if info == nil {
		info, err = tmp.f.Stat()
	}
	if err == nil && perm != 0o600 {
		err = setMode(tmp.f, 0o600)
	}
	if err != nil {
		tmp.remove()
		return nil, 0, err
	}
	if c.opt.Mode != nil {
		return tmp, *c.opt.Mode & safefile.ModeBits, nil
	}
	return tmp, info.Mode() & safefile.ModeBits, nil
}

// unchanged looks once more whether the file, by the name that it has now, is
// the one whose version was compared. Times are coarse: of a file that is read
// again in no time the content is compared, too.
func (c *change) unchanged(name string) error {
	if c.opt.IfVersion == "" {
		return nil
	}
	now, err := c.dir.stat(name)
	same := err == nil && sameState(now, c.info)
	if same && now.Size() <= 1<<20 {
		have, err := VersionOf(io.NewSectionReader(c.old, 0, now.Size()))
		same = err == nil && have == c.opt.IfVersion
	}
	if same {
		return nil
	}
	return &ConflictError{Path: c.path, Have: c.present(name), Want: c.opt.IfVersion}
}

// sameState reports whether nothing was written into a file between two looks,
// as far as size and time tell.
func sameState(a, b fs.FileInfo) bool {
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}

// present is the version of what has the name now; "" when it cannot be read.
func (c *change) present(name string) string {
	f, err := c.dir.open(name, openFlags, 0)
	if err != nil {
		return ""
	}
	defer f.Close()
	v, err := VersionOf(f)
	if err != nil {
		return ""
	}
	return v
}

// overwrite changes the file where it is. The old bytes are put back when it
// fails half way.
func (c *change) overwrite(src io.Reader) error {
	data, err := io.ReadAll(src)
	if err != nil {
		return err
	}
	f, err := c.dir.open(c.name, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrPermission) {
		f, err = c.dir.open(c.name, os.O_WRONLY, 0)
	}
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if !os.SameFile(info, c.info) {
		return fmt.Errorf("%w: it is another file now", ErrMoved)
	}
	old, readErr := io.ReadAll(f) // impossible where the file may only be written
	if have := Version(old); c.opt.IfVersion != "" && (readErr != nil || have != c.opt.IfVersion) {
		return &ConflictError{Path: c.path, Have: have, Want: c.opt.IfVersion}
	}
	if err := reserve(f, int64(len(data))); err != nil {
		return errors.Join(err, f.Truncate(info.Size()))
	}
	if err := fill(f, data); err != nil {
		if readErr == nil {
			return errors.Join(err, fill(f, old))
		}
		return err
	}
	c.out.Bytes, c.out.Version, c.out.InPlace, c.out.Mode = int64(len(data)), cmp.Or(c.opt.Version, Version(data)), true, info.Mode()&safefile.ModeBits
	if c.opt.Mode != nil {
		c.out.Mode = *c.opt.Mode & safefile.ModeBits
		return setMode(f, c.out.Mode)
	}
	return nil
}

func fill(f *os.File, data []byte) error {
	if _, err := f.WriteAt(data, 0); err != nil {
		return err
	}
	if err := f.Truncate(int64(len(data))); err != nil {
		return err
	}
	return f.Sync()
}
