// SPDX-License-Identifier: Apache-2.0

package events

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/klog/v2"

	"github.com/informer-gen/informer-gen/runtime/source"
	"github.com/informer-gen/informer-gen/runtime/writer"
)

const (
	period     = time.Minute     // between the requests for one series
	forgetTime = 6 * time.Minute // after the last Event of a series, as client-go's recorder
	maxWaiting = 1000
	maxKnown   = 4096
)

// Recorder records the Events of one controller. Make one with [New]. Any goroutine may call its
// methods at any time. A nil Recorder drops its Events.
//
// It implements client-go's events.EventRecorder and AnnotatedEventRecorder.
type Recorder struct {
	// set once at construction
	events               *writer.Writer[*eventsv1.Event]
	controller, instance string
	wake                 chan struct{} // has a value when queue has got a first one
	closing              chan struct{} // closed by Shutdown
	ended                chan struct{} // closed at the end of Run

	mu      sync.Mutex // mu guards the fields below
	running bool
	closed  bool
	known   map[identity]*series
	queue   []*series
	dropped int   // since the last line in the log
	lastErr error // of an Event dropped after Shutdown
	advised bool  // the log has the missing right
}

// New returns a recorder that writes by client. controller is the source of its Events, their
// reportingController. It starts nothing; [Recorder.Run] does.
func New(client *source.Client, controller string) (*Recorder, error) {
	fail := func(err error) (*Recorder, error) { return nil, fmt.Errorf("events.New: %w", err) }
	if controller == "" {
		return fail(errors.New("the name of the controller is empty"))
	}
	w, err := writer.New[*eventsv1.Event](client, eventsv1.SchemeGroupVersion.WithResource("events"), writer.Options{})
	if err != nil {
		return fail(err)
	}
	host, _ := os.Hostname() // without it, the name alone will do
	return &Recorder{
		events: w, controller: controller, instance: cut(controller+"-"+host, 128),
		wake: make(chan struct{}, 1), closing: make(chan struct{}), ended: make(chan struct{}),
		known: map[identity]*series{},
	}, nil
}

// Eventf records an Event about an object. eventtype is "Normal" or "Warning". reason says why, and
// action names the controller's action, in one word each, such as "FailedMount". note is for
// people, and formatted by [fmt.Sprintf]. related is another object that has to do with it, or nil.
//
// The objects need an apiVersion and kind, as objects of informers have. A *corev1.ObjectReference
// stands for any other object. An Event with wrong arguments is logged and dropped.
func (r *Recorder) Eventf(regarding, related runtime.Object, eventtype, reason, action, note string, args ...any) {
	r.AnnotatedEventf(regarding, related, nil, eventtype, reason, action, note, args...)
}

// AnnotatedEventf is Eventf, with annotations of the Event.
func (r *Recorder) AnnotatedEventf(regarding, related runtime.Object, annotations map[string]string, eventtype, reason, action, note string, args ...any) {
	if r == nil {
		return
	}
	note = fmt.Sprintf(note, args...)
	e, err := r.newEvent(regarding, related, eventtype, reason, action, note)
	if err != nil {
		klog.Background().Error(err, "An Event is not recorded", "controller", r.controller, "reason", reason, "action", action, "note", note)
		return
	}
	e.Annotations = annotations
	r.add(e)
}

// Run sends the Events until ctx is done, or [Recorder.Shutdown] is called. It returns nil after
// Shutdown, and otherwise context.Cause(ctx). It can be called once.
func (r *Recorder) Run(ctx context.Context) error {
	fail := func(err error) error { return fmt.Errorf("events: Run of the recorder of %s: %w", r.controller, err) }
	if ctx == nil {
		return fail(errors.New("the context is nil"))
	}
	r.mu.Lock()
	again := r.running
	r.running = true
	r.mu.Unlock()
	if again {
		return fail(errors.New("Run was called before; make another recorder"))
	}
	defer close(r.ended)
	return r.run(ctx)
}

// Shutdown has Run try each waiting Event once more and end, and waits for it. Later Events are
// dropped. If ctx is done first, Run goes on until its own context is done. The error has the
// number of Events that were not sent, and why.
func (r *Recorder) Shutdown(ctx context.Context) error {
	r.mu.Lock()
	if !r.closed {
		r.closed = true
		for _, s := range r.known {
			if !s.queued && s.count > s.settled {
				r.enqueueLocked(s)
			}
		}
		close(r.closing)
	}
	running := r.running
	r.mu.Unlock()
	if running {
		select {
		case <-r.ended:
		case <-ctx.Done():
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	lost, err := r.dropped+len(r.queue), r.lastErr
	if lost == 0 {
		return nil
	}
	if err == nil {
		err = context.Cause(ctx)
	}
	if err == nil {
		err = errors.New("Run has not sent them")
	}
	return fmt.Errorf("events: %d Events of %s were not sent: %w", lost, r.controller, err)
}
