// SPDX-License-Identifier: Apache-2.0

package mutation

import (
	"context"
	"iter"
	"time"

	"k8s.io/klog/v2"

	"github.com/informer-gen/informer-gen/runtime/object"
)

const (
	// work and rest bound the time that the passes take to a tenth of a core.
	work = 5 * time.Millisecond
	rest = 45 * time.Millisecond
	// period is the shortest time from the beginning of a pass to that of the next one.
	period = time.Second
)

// Run compares all objects of the cache again and again until ctx is done, and forgets those that
// have left the cache. current returns the objects that are in the cache when it is called. Log
// lines go to the logger of ctx. Only one Run may be in progress at a time.
func (d *Detector) Run(ctx context.Context, current func() iter.Seq[object.Object]) {
	if d == nil {
		return
	}
	logger := klog.FromContext(ctx)
	d.mu.Lock()
	d.logger = &logger
	d.mu.Unlock()
	p := pacer{done: ctx.Done(), timer: time.NewTimer(period)}
	defer p.timer.Stop()
	for {
		begin := time.Now()
		if !d.passOver(&p, current()) || !d.forget(&p) || !p.wait(max(rest, time.Until(begin.Add(period)))) {
			return
		}
	}
}

// passOver compares all objects. It returns false if p is done.
func (d *Detector) passOver(p *pacer, objects iter.Seq[object.Object]) bool {
	d.mu.Lock()
	d.pass++
	d.mu.Unlock()
	p.begin()
	for obj := range objects {
		d.compare(obj, d.watch(obj), "")
		if !p.step() {
			return false
		}
	}
	return true
}

// forget compares the objects that were neither in the cache nor in a callback during the last two
// passes, and stops watching them. It returns false if p is done.
func (d *Detector) forget(p *pacer) bool {
	for obj, w := range d.watchedWhere(d.unusedLocked) {
		d.compare(obj, w, "")
		d.mu.Lock()
		if d.unusedLocked(w) { // a callback may have got it again
			delete(d.watched, obj)
		}
		d.mu.Unlock()
		if !p.step() {
			return false
		}
	}
	return true
}

func (d *Detector) unusedLocked(w *watchedObject) bool { return w.used+1 < d.pass }

// pacer alternates work and rest.
type pacer struct {
	done  <-chan struct{}
	timer *time.Timer
	until time.Time // when the next rest begins
}

func (p *pacer) begin() { p.until = time.Now().Add(work) }

// step is called after each object. It returns false if the work has to end.
func (p *pacer) step() bool {
	if time.Now().Before(p.until) {
		return true
	}
	if !p.wait(rest) {
		return false
	}
	p.begin()
	return true
}

func (p *pacer) wait(d time.Duration) bool {
	p.timer.Reset(d)
	select {
	case <-p.timer.C:
		return true
	case <-p.done:
		return false
	}
}
