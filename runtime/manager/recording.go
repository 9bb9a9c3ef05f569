// SPDX-License-Identifier: Apache-2.0

package manager

import (
	"context"

	"k8s.io/klog/v2"

	"github.com/informer-gen/informer-gen/runtime/manager/events"
)

// recording is a controller's recorder, and its run.
type recording struct {
	// set once at construction
	*events.Recorder

	// set when it starts; Manager.mu guards them
	cancel context.CancelFunc
	done   chan struct{} // closed at the end of the run; nil before it
}

// startLocked runs the recorder if it does not run. Its group ends it.
func (r *recording) startLocked(parent context.Context) {
	if r.done != nil {
		return
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(parent))
	done := make(chan struct{})
	r.cancel, r.done = cancel, done
	go func() {
		defer close(done)
		_ = r.Run(ctx) // the context's error; Shutdown's has the rest
	}()
}

func (m *Manager) endRecorders() {
	m.always.endRecorders()
	m.led.endRecorders()
	m.sharded.endRecorders()
}

// endRecorders tries to send the last Events of all controllers, until the manager's deadline, and
// waits for the goroutines that send them.
func (g *group) endRecorders() {
	m := g.manager
	for _, u := range g.units {
		m.mu.Lock()
		r := u.recording
		u.recording = nil
		m.mu.Unlock()
		if r == nil {
			continue
		}
		if err := r.Shutdown(m.deadline()); err != nil {
			klog.FromContext(m.deadline()).Error(err, "Events of a controller are lost", "controller", u.Name)
		}
		if r.done != nil {
			r.cancel()
			<-r.done
		}
	}
}
