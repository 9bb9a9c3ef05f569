// SPDX-License-Identifier: Apache-2.0

package intake

import (
	"context"
	"fmt"

	"github.com/informer-gen/informer-gen/runtime/deltafifo"
	"github.com/informer-gen/informer-gen/runtime/informer/internal/outcome"
	"github.com/informer-gen/informer-gen/runtime/object"
)

type delta = deltafifo.Delta[object.Object]

// fifo is the DeltaFIFO of one run. It is an interface to save compile time; see settings.GoType.
type fifo interface {
	Push(batch []delta) error
	Pop(ctx context.Context, room []delta) ([]delta, error)
	Len() int
	Close()
}

// Begin begins a run: each stream gets a goroutine that reads. The caller calls Loop next.
func (in *Intake) Begin(r *Run) {
	in.writeMu.Lock()
	defer in.writeMu.Unlock()
	in.run = r
	in.setQueue(deltafifo.New[object.Object](0))
	for _, s := range in.Streams() {
		s.begin(r, in.queue, in.startLimitFor(len(in.Streams())))
	}
	if in.config.FileOf != nil {
		r.Go(func() { in.saveInBackground(r) })
	}
}

// Loop is the controller loop: it applies the deltas until the run is over. If an index function or
// OnError calls runtime.Goexit, the run ends, because the deltas taken out are lost; the next run
// begins with a full state.
func (in *Intake) Loop(r *Run) {
	queue := in.queue
	defer in.stop(queue)
	defer func() {
		if r.Ctx.Err() == nil {
			r.Fail(in.goexitError(in.config.Name))
		}
	}()
	var room []delta
	for {
		batch, err := queue.Pop(r.Ctx, room)
		if err != nil {
			return
		}
		for rest := batch; len(rest) > 0; {
			n := 1
			for n < len(rest) && rest[n].Stream == rest[0].Stream {
				n++
			}
			if s := in.streamByNumber(rest[0].Stream); s != nil {
				s.apply(r, rest[:n])
			}
			rest = rest[n:]
		}
		clear(batch) // keeps no objects alive
		if room = batch[:0]; cap(room) > maxBatch {
			room = nil // later batches take less room than a full state
		}
	}
}

// stop begins the end of a run: no reader starts, and readers that wait for room end.
func (in *Intake) stop(queue fifo) {
	queue.Close()
	in.writeMu.Lock()
	defer in.writeMu.Unlock()
	in.run, in.startLimit = nil, nil
}

func (in *Intake) streamByNumber(number uint64) *Stream {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.byNumber[number]
}

// End ends a run without goroutines. Deltas not applied are dropped: the next run reads them anew.
func (in *Intake) End() {
	in.writeMu.Lock()
	defer in.writeMu.Unlock()
	in.setQueue(nil)
	for _, s := range in.Streams() {
		s.unstage()
		s.sink.queue, s.sink.batch = nil, nil
	}
}

// goexitError returns the error of a run ended by a user's function with runtime.Goexit.
func (in *Intake) goexitError(name string) error {
	return fmt.Errorf("informer %s: the Source, the transform, an index function or the error handler ended its goroutine: %w", name, outcome.ErrGoexit)
}
