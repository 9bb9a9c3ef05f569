// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/informer-gen/informer-gen/examples/crd-sample/api/v1alpha1"
)

// report prints aligned lines with the time since the start. It is safe for concurrent use.
type report struct {
	start time.Time
	mu    sync.Mutex // mu guards out
	out   io.Writer
}

func newReport(out io.Writer) *report { return &report{start: time.Now(), out: out} }

func (r *report) line(step, format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	fmt.Fprintf(r.out, "%8.3f s  %-9s %s\n", time.Since(r.start).Seconds(), step, fmt.Sprintf(format, args...))
}

type tally struct {
	mu      sync.Mutex // mu guards the fields below
	initial int
	added   int
	updated int
	deleted int
	sites   int
	lines   int           // how many more events are printed
	changed chan struct{} // closed at the next count; nil if no goroutine waits
}

func (t *tally) count(counter *int) (show bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	*counter++
	if t.changed != nil {
		close(t.changed)
		t.changed = nil
	}
	if t.lines >= 0 {
		t.lines--
	}
	return t.lines >= 0
}

func (t *tally) show(n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.lines = n
}

func (t *tally) showAll() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.lines = math.MaxInt
}

// done may read the counters.
func (t *tally) wait(ctx context.Context, done func() bool) error {
	for {
		t.mu.Lock()
		if done() {
			t.mu.Unlock()
			return nil
		}
		if t.changed == nil {
			t.changed = make(chan struct{})
		}
		changed := t.changed
		t.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func since(t time.Time) string { return short(time.Since(t)) }

func short(d time.Duration) string {
	switch {
	case d >= time.Second:
		return fmt.Sprintf("%.2f s", d.Seconds())
	case d >= time.Millisecond:
		return fmt.Sprintf("%.1f ms", float64(d)/float64(time.Millisecond))
	default:
		return fmt.Sprintf("%.0f µs", float64(d)/float64(time.Microsecond))
	}
}

func names(widgets []*v1alpha1.Widget, n int) string {
	all := make([]string, 0, len(widgets))
	for _, w := range widgets {
		all = append(all, w.Name)
	}
	slices.Sort(all)
	if len(all) > n {
		return strings.Join(all[:n], ", ") + ", …"
	}
	return strings.Join(all, ", ")
}

func nodeOf(w *v1alpha1.Widget) string {
	if w.Spec.NodeName == "" {
		return "no node"
	}
	return w.Spec.NodeName
}
