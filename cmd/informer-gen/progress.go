// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/term"

	"github.com/informer-gen/informer-gen/generator/load"
)

// progress says on a terminal what the run is doing, in one line that appears after a second and is
// gone at the end.
type progress struct {
	w     io.Writer
	width int // of the terminal, in letters

	mu    sync.Mutex // guards what follows, and writing to w
	timer *time.Timer
	text  string // what is being done
	shown string // what stands on the terminal
	done  bool
}

// The line appears after a while, so that it doesn't flicker, and changes not more often than
// one can read.
const (
	progressAfter = time.Second
	progressEvery = 100 * time.Millisecond
)

// newProgress shows nothing if w isn't a terminal or if CI is set in the environment. stop must be
// called.
func newProgress(w io.Writer) *progress {
	file, ok := w.(*os.File)
	if !ok || os.Getenv("CI") != "" || os.Getenv("TERM") == "dumb" || !term.IsTerminal(int(file.Fd())) {
		return &progress{done: true}
	}
	width, _, err := term.GetSize(int(file.Fd()))
	if err != nil || width <= 0 {
		width = 80
	}
	return startProgress(w, width)
}

func startProgress(w io.Writer, width int) *progress {
	p := &progress{w: w, width: width, text: string(load.Listing)}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.timer = time.AfterFunc(progressAfter, p.tick)
	return p
}

// packages is generator.Config.Progress.
func (p *progress) packages(at load.Progress) {
	if at.Total > 0 {
		p.set(fmt.Sprintf("%s, %d of %d", at.What, at.Done, at.Total))
	} else {
		p.set(string(at.What))
	}
}

// set changes what the line says.
func (p *progress) set(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.text = text
}

// stop erases the line. After it nothing is written any more. It may be called more than once.
func (p *progress) stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.done {
		return
	}
	p.done = true
	p.timer.Stop()
	if p.shown != "" {
		fmt.Fprint(p.w, eraseLine)
	}
}

// tick draws the line and asks to be called again.
func (p *progress) tick() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.done {
		return
	}
	line := []rune(prefix + p.text + " …")
	if text := string(line[:min(len(line), p.width-1)]); text != p.shown {
		fmt.Fprint(p.w, eraseLine+text)
		p.shown = text
	}
	p.timer.Reset(progressEvery)
}

// eraseLine goes back to the start of the line and erases it.
const eraseLine = "\r\x1b[K"
