//go:build !linux

package wall

import (
	"io/fs"
	"os"
	"time"
)

// A base is nothing here.
type base struct{}

func openBase(string) base { return base{} }

func (base) close() {}

// identity says nothing here that a directory could be remembered by.
func (base) identity(dir string) (stamp int64, ino uint64, ok bool) {
	i, err := os.Lstat(dir)
	return 0, 0, err == nil && i.IsDir()
}

// idOf says nothing here.
func idOf(string) fileID { return fileID{} }

const identified = false

// idOfInfo says nothing here.
func idOfInfo(fs.FileInfo) fileID { return fileID{} }

// overlaid says nothing here.
func overlaid(string) bool { return false }

// changedAt says nothing here.
func changedAt(string) time.Time { return time.Time{} }

// changedAt says nothing here.
func (base) changedAt(string) time.Time { return time.Time{} }

// changedIn says nothing here.
func (base) changedIn(string) time.Time { return time.Time{} }

// changedOf says nothing here.
func changedOf(fs.FileInfo) time.Time { return time.Time{} }

// shut says nothing here.
func shut(string) bool { return false }

// links says nothing here.
func links(string) (n uint64, id [2]uint64) { return 0, id }
