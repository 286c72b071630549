# replay.sh DIALECT sends calls as a model of that dialect does, and prints what the model
# reads. Each line of .replay/calls is a tool and its arguments; LAST stands for the newest
# background command, WORK for the directory. What differs from run to run is replaced.
cd -P .
dialect=$1 last=
while read -r tool args; do
	[ -n "$tool" ] || continue
	printf '== %s %s\n' "$tool" "$args"
	text=$(printf '%s' "$args" | sed "s#LAST#$last#; s#WORK#$PWD#g" | agentkit call --dialect "$dialect" "$tool" -o text 2>/dev/null; echo "[status $?]")
	id=$(printf '%s' "$text" | sed -n 's/.*session ID \([0-9]*\).*/\1/p; s/.*with ID: \(j[0-9a-z]*\).*/\1/p; s/.*"shell_id":"\(j[0-9a-z]*\)".*/\1/p')
	[ -z "$id" ] || last=$id
	printf '%s\n' "$text"
done <.replay/calls | sed "s#$PWD#WORK#g
	s/Chunk ID: [0-9a-f]\{6\}$/Chunk ID: abcdef/
	s/Chunk ID: [0-9a-f]\{8\}-[0-9a-f]\{4\}-4[0-9a-f]\{3\}-[89ab][0-9a-f]\{3\}-[0-9a-f]\{12\}$/Chunk ID: UUID/
	s/Wall time: [0-9]*\.[0-9][0-9][0-9][0-9] /Wall time: 0.0000 /
	s/Wall time: [0-9]*\(\.[0-9]\)\{0,1\} seconds/Wall time: 0 seconds/
	s/\"duration_seconds\":[0-9.]*/\"duration_seconds\":0.0/
	s/session ID [0-9]*/session ID 1234/
	s/after [0-9]* milliseconds/after N milliseconds/
	s/timed out after [0-9.]*m*s/timed out after T/
	s/approve [0-9a-z]*/approve REQUEST/
	s/j[0-9a-z]\{16\}/JOB/g"
