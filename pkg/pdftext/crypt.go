package pdftext

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/md5" //nolint:gosec // what the standard asks for
	"crypto/rc4" //nolint:gosec // what the standard asks for
	"crypto/sha256"
	"crypto/sha512"
	"encoding/binary"
	"fmt"
)

// A crypt decrypts a file whose password is empty, which is how files are
// protected against being printed.
type crypt struct {
	key     []byte
	version int
	strm    method // of streams
	str     method // of strings
	plain   bool   // the metadata is not encrypted
}

// A method is how something is encrypted.
type method int

const (
	nothing method = iota
	rc4Method
	aes128
	aes256
)

// unlock finds the key of an encrypted file, once.
func (d *Document) unlock() error {
	e := d.dict(d.trailer["Encrypt"])
	if e == nil || d.crypt != nil {
		return nil
	}
	c := &crypt{version: d.number(e["V"], 0)}
	c.plain = d.resolve(e["EncryptMetadata"]) == false
	bits := d.number(e["Length"], 40)
	switch c.version {
	case 1:
		c.strm, c.str, bits = rc4Method, rc4Method, 40
	case 2:
		c.strm, c.str = rc4Method, rc4Method
	case 4, 5:
		filters := d.dict(e["CF"])
		c.strm, c.str = d.method(filters, e["StmF"]), d.method(filters, e["StrF"])
		bits = 128
	default:
		return fmt.Errorf("%w: its kind of encryption is %d", ErrEncrypted, c.version)
	}
	revision := d.number(e["R"], 0)
	owner, _ := d.resolve(e["O"]).(text)
	user, _ := d.resolve(e["U"]).(text)
	if c.version == 5 {
		secret, _ := d.resolve(e["UE"]).(text)
		c.key = key256(revision, []byte(user), []byte(secret))
	} else {
		id := text("")
		if ids := d.list(d.trailer["ID"]); len(ids) > 0 {
			id, _ = d.resolve(ids[0]).(text)
		}
		c.key = key128(revision, min(max(bits/8, 5), 16), []byte(owner), []byte(user), []byte(id), uint32(d.number(e["P"], 0)), c.plain)
	}
	if c.key == nil {
		return ErrEncrypted
	}
	d.crypt = c
	// What was read before the key was known may hold encrypted text.
	d.objects, d.packs = map[int]any{}, map[int]*pack{}
	if r, ok := d.trailer["Encrypt"].(ref); ok {
		d.objects[r.num] = e
	}
	return nil
}

func (d *Document) method(filters dict, which any) method {
	filter, _ := d.resolve(which).(name)
	switch d.resolve(d.dict(filters[filter])["CFM"]) {
	case name("V2"):
		return rc4Method
	case name("AESV2"):
		return aes128
	case name("AESV3"):
		return aes256
	}
	return nothing
}

// padding stands for the missing characters of a password.
const padding = "\x28\xbf\x4e\x5e\x4e\x75\x8a\x41\x64\x00\x4e\x56\xff\xfa\x01\x08\x2e\x2e\x00\xb6\xd0\x68\x3e\x80\x2f\x0c\xa9\xfe\x64\x53\x69\x7a"

// key128 is the key of revisions 2 to 4 for an empty password, or nil when the
// password is another.
func key128(revision, size int, owner, user, id []byte, permissions uint32, plain bool) []byte {
	if len(owner) < 32 || len(user) < 16 {
		return nil
	}
	h := md5.New() //nolint:gosec // see the import
	h.Write([]byte(padding))
	h.Write(owner[:32])
	h.Write(binary.LittleEndian.AppendUint32(nil, permissions))
	h.Write(id)
	if revision >= 4 && plain {
		h.Write([]byte("\xff\xff\xff\xff"))
	}
	key := h.Sum(nil)
	if revision >= 3 {
		for range 50 {
			sum := md5.Sum(key[:size]) //nolint:gosec // see the import
			key = sum[:]
		}
	}
	key = key[:size]
	if revision < 3 {
		if !bytes.Equal(crypted(key, []byte(padding)), user[:min(32, len(user))]) {
			return nil
		}
		return key
	}
	sum := md5.Sum(append([]byte(padding), id...)) //nolint:gosec // see the import
	check := crypted(key, sum[:])
	for i := 1; i < 20; i++ {
		round := bytes.Clone(key)
		for j := range round {
			round[j] ^= byte(i)
		}
		check = crypted(round, check)
	}
	if !bytes.Equal(check, user[:16]) {
		return nil
	}
	return key
}

func crypted(key, data []byte) []byte {
	c, err := rc4.NewCipher(key) //nolint:gosec // see the import
	if err != nil {
		return data
	}
	out := make([]byte, len(data))
	c.XORKeyStream(out, data)
	return out
}

// key256 is the key of revisions 5 and 6 for an empty password, or nil when
// the password is another.
func key256(revision int, user, secret []byte) []byte {
	if len(user) < 48 || len(secret) < 32 {
		return nil
	}
	hash := func(salt []byte) []byte {
		sum := sha256.Sum256(salt)
		if revision < 6 {
			return sum[:]
		}
		return hardened(sum[:])
	}
	if !bytes.Equal(hash(user[32:40]), user[:32]) {
		return nil
	}
	block, err := aes.NewCipher(hash(user[40:48]))
	if err != nil {
		return nil
	}
	key := make([]byte, 32)
	cipher.NewCBCDecrypter(block, make([]byte, 16)).CryptBlocks(key, secret[:32])
	return key
}

// hardened is the hash of revision 6 (ISO 32000-2, algorithm 2.B) for an empty
// password.
func hardened(k []byte) []byte {
	for round := 0; ; round++ {
		k1 := bytes.Repeat(k, 64)
		block, err := aes.NewCipher(k[:16])
		if err != nil {
			return nil
		}
		cipher.NewCBCEncrypter(block, k[16:32]).CryptBlocks(k1, k1)
		sum := 0
		for _, c := range k1[:16] {
			sum += int(c)
		}
		switch sum % 3 {
		case 0:
			s := sha256.Sum256(k1)
			k = s[:]
		case 1:
			s := sha512.Sum384(k1)
			k = s[:]
		default:
			s := sha512.Sum512(k1)
			k = s[:]
		}
		if round >= 63 && int(k1[len(k1)-1]) <= round-31 {
			return k[:32]
		}
	}
}

// stream decrypts the bytes of a stream.
func (c *crypt) stream(s *stream, num, gen int) []byte {
	kind, _ := s.dict["Type"].(name)
	if kind == "XRef" || kind == "Metadata" && c.plain {
		return s.raw
	}
	return c.decrypt(c.strm, s.raw, num, gen)
}

// strings decrypts the strings in an object.
func (c *crypt) strings(v any, num, gen, depth int) any {
	if depth > maxNesting {
		return v
	}
	switch v := v.(type) {
	case text:
		return text(c.decrypt(c.str, []byte(v), num, gen))
	case array:
		for i := range v {
			v[i] = c.strings(v[i], num, gen, depth+1)
		}
	case dict:
		for k := range v {
			v[k] = c.strings(v[k], num, gen, depth+1)
		}
	}
	return v
}

func (c *crypt) decrypt(m method, data []byte, num, gen int) []byte {
	key := c.key
	if m == rc4Method || m == aes128 {
		seed := append(bytes.Clone(key), byte(num), byte(num>>8), byte(num>>16), byte(gen), byte(gen>>8))
		if m == aes128 {
			seed = append(seed, "sAlT"...)
		}
		sum := md5.Sum(seed) //nolint:gosec // see the import
		key = sum[:min(len(c.key)+5, 16)]
	}
	switch m {
	case rc4Method:
		return crypted(key, data)
	case aes128, aes256:
		block, err := aes.NewCipher(key)
		if err != nil || len(data) < 32 {
			return nil
		}
		body := data[16:]
		body = body[:len(body)&^15]
		out := make([]byte, len(body))
		cipher.NewCBCDecrypter(block, data[:16]).CryptBlocks(out, body)
		if pad := int(out[len(out)-1]); pad >= 1 && pad <= 16 {
			out = out[:len(out)-pad]
		}
		return out
	}
	return data
}
