package policy

// Withholds reports whether variables that look like secrets are kept from
// commands, apart from those that Environment passes: wherever commands may
// not use the network freely, and so in every profile but open.
func (p *Policy) Withholds() bool { return p == nil || p.settings[netCommand].verdict != Allow }
