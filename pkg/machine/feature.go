package machine

// A Feature is something of the kernel that confining or ending commands builds on.
type Feature struct {
	Name string `json:"name"`
	Have string `json:"have"`           // what there is, such as a version; "" for nothing
	Use  string `json:"use"`            // what it is for
	Fix  string `json:"fix,omitempty"`  // how to get it, where it is missing
	Rest string `json:"rest,omitempty"` // what a newer one would add
}
