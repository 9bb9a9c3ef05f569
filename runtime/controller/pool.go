// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"sync"
)

// pool is a changing number of goroutines that do the same work.
type pool struct {
	// set once at construction
	ctx  context.Context // of all
	wg   *sync.WaitGroup // counts the goroutines
	work func(context.Context)

	mu      sync.Mutex           // mu guards what follows
	running bool                 // between start and stop
	cancels []context.CancelFunc // one for each goroutine
}

func (p *pool) start(n int) {
	p.mu.Lock()
	p.running = true
	p.mu.Unlock()
	p.resize(n)
}

// resize starts goroutines, or cancels the contexts of some.
func (p *pool) resize(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.running {
		return
	}
	for len(p.cancels) < n {
		ctx, cancel := context.WithCancel(p.ctx)
		p.cancels = append(p.cancels, cancel)
		p.wg.Go(func() { p.work(ctx) })
	}
	for ; len(p.cancels) > n; p.cancels = p.cancels[:len(p.cancels)-1] {
		p.cancels[len(p.cancels)-1]()
	}
}

// stop cancels all contexts. No goroutine starts after it.
func (p *pool) stop() {
	p.resize(0)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.running = false
}
