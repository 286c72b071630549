package files

// A touchedFile is what became of a file.
type touchedFile struct {
	Path   string `json:"path"`
	Action string `json:"action" doc:"create, replace, delete, move, mode, mkdir or rmdir; touch where only the time differs"`
}
