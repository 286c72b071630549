package pdftext

import (
	"bytes"
	"compress/flate"
	"errors"
	"fmt"
	"io"
)

// maxStream is the size in bytes up to which one stream is unpacked: 16 MiB.
// Pictures, which are larger, are not unpacked.
const maxStream = 16 << 20

// errPicture says that a stream holds a picture.
var errPicture = errors.New("a picture")

// unpack undoes the filters of a stream.
func (d *Document) unpack(s *stream) ([]byte, error) {
	filters := d.list(s.dict.either("Filter", "F"))
	params := d.list(s.dict.either("DecodeParms", "DP"))
	if len(filters) > 16 {
		return nil, fmt.Errorf("%w: %d filters on one stream", ErrFormat, len(filters))
	}
	data := s.raw
	for i, f := range filters {
		var param dict
		if i < len(params) {
			param, _ = d.resolve(params[i]).(dict)
		}
		filter, _ := d.resolve(f).(name)
		limit := min(maxStream, d.work.bytes)
		switch filter {
		case "FlateDecode", "Fl":
			data = inflate(data, limit)
		case "LZWDecode", "LZW":
			data = lzw(data, d.number(param["EarlyChange"], 1) != 0, limit)
		case "ASCIIHexDecode", "AHx":
			l := lexer{data: append([]byte("<"), data...), work: d.work}
			data = []byte(l.hex())
		case "ASCII85Decode", "A85":
			data = ascii85(data, limit)
		case "RunLengthDecode", "RL":
			data = runLength(data, limit)
		case "Crypt":
		case "DCTDecode", "DCT", "JPXDecode", "CCITTFaxDecode", "CCF", "JBIG2Decode":
			return nil, errPicture
		default:
			return nil, fmt.Errorf("%w: unknown filter %q", ErrFormat, filter)
		}
		d.cut = d.cut || len(data) >= limit
		if filter[0] == 'F' || filter[0] == 'L' {
			data = d.unpredict(data, param)
		}
		if d.work.bytes -= len(data); d.work.bytes <= 0 {
			return nil, ErrTooMuch
		}
	}
	return data, nil
}

// either is a member by its name, or by the short one of inline images.
func (d dict) either(long, short name) any {
	if v, ok := d[long]; ok {
		return v
	}
	return d[short]
}

// inflate undoes zlib. What comes before damage is kept.
func inflate(data []byte, limit int) []byte {
	for _, skip := range []int{2, 0} { // with the header of zlib, or, wrongly, without
		if len(data) < skip {
			continue
		}
		var b bytes.Buffer
		_, err := io.Copy(&b, io.LimitReader(flate.NewReader(bytes.NewReader(data[skip:])), int64(limit)))
		if err == nil || b.Len() > 0 {
			return b.Bytes()
		}
	}
	return nil
}

// lzw undoes the variant of TIFF: codes grow one code early, unless the stream
// says otherwise.
func lzw(data []byte, early bool, limit int) []byte {
	const clear, end = 256, 257
	type entry struct {
		prefix int
		last   byte
		size   int
	}
	table := make([]entry, 258, 4096)
	for i := range 256 {
		table[i] = entry{-1, byte(i), 1}
	}
	var out []byte
	width, bits, have, before := 9, 0, 0, -1
	write := func(code int) byte {
		n := table[code].size
		out = append(out, make([]byte, n)...)
		at := len(out)
		for code >= 0 {
			at--
			out[at] = table[code].last
			code = table[code].prefix
		}
		return out[at]
	}
	for _, c := range data {
		bits, have = bits<<8|int(c), have+8
		if have < width {
			continue
		}
		code := bits >> (have - width) & (1<<width - 1)
		have -= width
		bits &= 1<<have - 1
		switch {
		case code == clear:
			table, width, before = table[:258], 9, -1
			continue
		case code == end || len(out) > limit:
			return out
		case before < 0:
			if code > 255 {
				return out
			}
			write(code)
		case code < len(table):
			first := write(code)
			if len(table) < 4096 {
				table = append(table, entry{before, first, table[before].size + 1})
			}
		case code == len(table) && code < 4096:
			first := before
			for table[first].prefix >= 0 {
				first = table[first].prefix
			}
			table = append(table, entry{before, table[first].last, table[before].size + 1})
			write(code)
		default:
			return out
		}
		before = code
		grow := len(table)
		if early {
			grow++
		}
		switch {
		case grow >= 2048:
			width = 12
		case grow >= 1024:
			width = 11
		case grow >= 512:
			width = 10
		}
	}
	return out
}

func ascii85(data []byte, limit int) []byte {
	var out []byte
	var group [5]byte
	n := 0
	flush := func(n int) {
		v := uint32(0)
		for _, c := range group {
			v = v*85 + uint32(c)
		}
		out = append(out, []byte{byte(v >> 24), byte(v >> 16), byte(v >> 8), byte(v)}[:n]...)
	}
	for _, c := range data {
		switch {
		case c == '~' || len(out) > limit:
			data = nil
		case c == 'z' && n == 0:
			out = append(out, 0, 0, 0, 0)
		case c >= '!' && c <= 'u':
			group[n] = c - '!'
			if n++; n == 5 {
				flush(4)
				n = 0
			}
		}
		if data == nil {
			break
		}
	}
	if n > 1 {
		for i := n; i < 5; i++ {
			group[i] = 84
		}
		flush(n - 1)
	}
	return out
}

func runLength(data []byte, limit int) []byte {
	var out []byte
	for i := 0; i < len(data) && len(out) < limit; {
		n := int(data[i])
		i++
		switch {
		case n == 128:
			return out
		case n < 128:
			end := min(len(data), i+n+1)
			out = append(out, data[i:end]...)
			i = end
		case i < len(data):
			out = append(out, bytes.Repeat(data[i:i+1], 257-n)...)
			i++
		}
	}
	return out
}

// unpredict undoes the predictor of a stream, which stores differences.
func (d *Document) unpredict(data []byte, param dict) []byte {
	kind := d.number(param["Predictor"], 1)
	if kind < 2 {
		return data
	}
	colours := min(max(d.number(param["Colors"], 1), 1), 32)
	bits := min(max(d.number(param["BitsPerComponent"], 8), 1), 16)
	columns := min(max(d.number(param["Columns"], 1), 1), 1<<20)
	pixel := max(1, colours*bits/8)
	row := min((colours*bits*columns+7)/8, len(data)+1)
	if kind == 2 {
		if bits != 8 {
			return data
		}
		for start := 0; start < len(data); start += row {
			line := data[start:min(start+row, len(data))]
			for i := pixel; i < len(line); i++ {
				line[i] += line[i-pixel]
			}
		}
		return data
	}
	var out []byte
	above := make([]byte, row)
	for len(data) > 1 {
		line := make([]byte, row)
		method := data[0]
		n := copy(line, data[1:])
		data = data[1+n:]
		for i := range line {
			var left, corner byte
			if i >= pixel {
				left, corner = line[i-pixel], above[i-pixel]
			}
			switch method {
			case 1:
				line[i] += left
			case 2:
				line[i] += above[i]
			case 3:
				line[i] += byte((int(left) + int(above[i])) / 2)
			case 4:
				line[i] += paeth(left, above[i], corner)
			}
		}
		out = append(out, line[:n]...)
		above = line
	}
	return out
}

func paeth(a, b, c byte) byte {
	p := int(a) + int(b) - int(c)
	pa, pb, pc := max(p-int(a), int(a)-p), max(p-int(b), int(b)-p), max(p-int(c), int(c)-p)
	switch {
	case pa <= pb && pa <= pc:
		return a
	case pb <= pc:
		return b
	}
	return c
}
