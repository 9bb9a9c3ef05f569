// SPDX-License-Identifier: Apache-2.0

package load

import "sync"

// Progress says how far a run has come.
type Progress struct {
	// What is being done.
	What What
	// Done of Total packages have it behind them. Total is 0 as long as it isn't known.
	Done, Total int
}

// What is a part of a run, in words to print, such as "reading packages".
type What string

// The parts of a run, in their order.
const (
	Listing  What = "listing packages"
	Reading  What = "reading packages"
	Checking What = "checking types"
)

// progress counts for a callback, one part at a time.
type progress struct {
	mu   sync.Mutex // guards what follows, and is held while call runs
	call func(Progress)
	at   Progress
}

// begin starts a part.
func (p *progress) begin(what What, total int) {
	p.set(func() { p.at = Progress{What: what, Total: total} })
}

// step counts a package of it as done.
func (p *progress) step() {
	p.set(func() { p.at.Done++ })
}

func (p *progress) set(change func()) {
	if p.call == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	change()
	p.call(p.at)
}
