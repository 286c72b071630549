package programs

// A Reader names a reading of a program's words that a table cannot express.
type Reader uint8

// The readers.
const (
	ReadTable Reader = iota
	ReadAwk
	ReadCMake
	ReadCopy
	ReadDD
	ReadDate
	ReadDebugger
	ReadDocker
	ReadEcho
	ReadEditor
	ReadEnv
	ReadFetch
	ReadFind
	ReadFlock
	ReadGetent
	ReadGit
	ReadGo
	ReadGrep
	ReadGzip
	ReadHelm
	ReadHostname
	ReadInterpreter
	ReadJq
	ReadKubectl
	ReadLink
	ReadLogin
	ReadMagick
	ReadMail
	ReadMake
	ReadMedia
	ReadMove
	ReadMultiCall
	ReadNpx
	ReadOpener
	ReadPager
	ReadParallel
	ReadPatch
	ReadPrintEnv
	ReadPs
	ReadRemote
	ReadRemove
	ReadSchedule
	ReadScript
	ReadSed
	ReadShell
	ReadSocat
	ReadSplit
	ReadStringWrapper
	ReadSubcommand
	ReadTar
	ReadTest
	ReadTmux
	ReadUnpack
	ReadWrapper
	ReadXargs
	ReadYq
)
