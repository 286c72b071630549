package safefile

import (
	"crypto/sha256"
	"encoding/hex"
)

// Sum is the SHA-256 of a file's content in hexadecimal, by which the undo journal, the notes of what calls
// have written and what is put back after a command know the same content.
func Sum(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}
