package programs

import (
	"strings"
)

// imageFormats are the prefixes of ImageMagick that mean a file of that kind.
const imageFormats = " apng avif bmp bmp3 gif heic ico jpeg jpg jp2 pbm pgm png png8 png24 png32 pnm ppm psd tga tif tiff webp xbm xpm "

// magick reads the programs of ImageMagick: a name may have a prefix that
// reads, reaches, runs or deletes something else.
func (c *Call) magick() {
	args := c.Words[1:]
	if c.Name == "magick" && len(args) > 0 && Has(c.Record.Names, args[0].Text) {
		args = args[1:]
	}
	all := c.Name == "mogrify" || len(c.Words) > 1 && c.Words[1].Text == "mogrify"
	reads := c.Name == "identify" || len(c.Words) > 1 && c.Words[1].Text == "identify"
	for i, x := range args {
		t := x.Text
		switch {
		case strings.HasPrefix(t, "-") || strings.HasPrefix(t, "+"):
			if t == "-write" && i+1 < len(args) {
				c.image(args[i+1], true)
			}
			if t == "-script" || t == "-path" {
				c.opaque("its option " + t + " runs or writes something else")
			}
		case t == "(" || t == ")" || x.Dynamic && x.Lead == "":
			if x.Dynamic {
				c.opaque("a name that is not known before it runs")
			}
		case i > 0 && strings.HasPrefix(args[i-1].Text, "-") && !strings.ContainsAny(t, ":@/") && !c.Shell.Exists(t):
			// the value of an option
		default:
			c.image(x, !reads && (all || i == len(args)-1))
		}
	}
}

// image lists one name of ImageMagick's.
func (c *Call) image(x Word, writes bool) {
	role := Read
	if writes {
		role = Write
	}
	name, _, _ := strings.Cut(x.Text, "[")
	prefix, rest, ok := strings.Cut(name, ":")
	prefix = strings.ToLower(prefix)
	switch {
	case x.Dynamic:
		c.does(role, x)
	case strings.HasPrefix(name, "@"):
		c.opaque("names or text stand in a file")
		c.does(Read, Word{Text: name[1:]})
	case !ok || len(prefix) < 2:
		c.does(role, Word{Text: name})
	case strings.HasPrefix(rest, "//"):
		c.address(Word{Text: name})
	case Has(imageFormats, prefix):
		c.does(role, Word{Text: rest})
	default:
		c.opaque("the prefix " + Cut(prefix) + ": reads, runs or deletes something else")
		rest = strings.TrimPrefix(rest, "@")
		if prefix == "ephemeral" {
			c.does(Delete, Word{Text: rest})
		} else if rest != "" && (pathLike(rest) || c.Shell.Exists(rest)) {
			c.does(role, Word{Text: rest})
		}
	}
}

// mediaFlags are the options of ffmpeg and its kin that take no value.
const mediaFlags = " y n an vn sn dn hide_banner nostdin nostats stats shortest re version h help L formats codecs encoders decoders filters protocols pix_fmts buildconf stream_loop? benchmark copyts start_at_zero autorotate noautorotate noaccurate_seek accurate_seek debug_ts xerror ignore_unknown copy_unknown report show_format show_streams show_packets show_frames show_error show_chapters show_programs pretty unit byte_binary_prefix prefix autoexit nodisp fs "

// media reads ffmpeg, ffprobe and ffplay: a name may be an address, or stand
// for several.
func (c *Call) media() {
	args := c.Words[1:]
	for i := 0; i < len(args); i++ {
		x := args[i]
		name, isOpt := strings.CutPrefix(x.Text, "-")
		switch {
		case x.Dynamic:
			if x.MayBeOption() {
				c.opaque("a word that is not known may be an option")
			}
			c.stream(x, c.Name == "ffmpeg")
		case !isOpt || name == "":
			c.stream(x, c.Name == "ffmpeg")
		case Has(mediaFlags, name):
			if name == "report" {
				c.opaque("its option -report writes a file")
			}
		default:
			if i++; i < len(args) {
				c.mediaOption(strings.SplitN(name, ":", 2)[0], args[i])
			}
		}
	}
}

func (c *Call) mediaOption(name string, x Word) {
	switch name {
	case "i":
		c.stream(x, false)
	case "f":
		if x.Text == "concat" || x.Text == "tee" || x.Text == "lavfi" || x.Dynamic {
			c.opaque("a format whose data names files")
		}
	case "filter_script", "filter_complex_script", "fpre", "vpre", "apre", "spre", "attach", "passlogfile", "protocol_whitelist", "safe", "dump_attachment", "progress", "sdp_file", "vstats_file", "init_hw_device":
		c.opaque("its option -" + name + " reads, writes or reaches something else")
		if pathLike(x.Text) {
			c.file(May, Word{Text: x.Text})
		}
	case "vf", "af", "filter", "filter_complex", "lavfi":
		if x.Dynamic || strings.Contains(x.Text, "movie") || strings.Contains(x.Text, "file") || strings.Contains(x.Text, "subtitles") || strings.Contains(x.Text, "ass=") || strings.Contains(x.Text, "ladspa") || strings.Contains(x.Text, "zmq") || strings.Contains(x.Text, "lut3d") || strings.Contains(x.Text, "arnndn") || strings.Contains(x.Text, "sendcmd") {
			c.opaque("a filter that names files")
		}
	}
}

// stream lists one input or output of ffmpeg's.
func (c *Call) stream(x Word, writes bool) {
	role := Read
	if writes {
		role = Write
	}
	scheme, rest, ok := strings.Cut(x.Text, ":")
	switch {
	case x.Dynamic || !ok || strings.ContainsAny(scheme, "/. "):
		if x.Text != "-" {
			c.does(role, x)
		}
	case scheme == "file":
		c.does(role, Word{Text: strings.TrimPrefix(rest, "//")})
	case scheme == "pipe":
	case scheme == "concat":
		for part := range strings.SplitSeq(rest, "|") {
			c.stream(Word{Text: part}, writes)
		}
	case strings.HasPrefix(rest, "//"):
		c.address(x)
	default:
		c.opaque("the protocol " + Cut(scheme) + " reads or reaches something else")
		if i := strings.IndexByte(x.Text, '/'); i >= 0 {
			c.does(role, Word{Text: x.Text[i:]})
		}
	}
}
