// SPDX-License-Identifier: Apache-2.0

package manager_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"

	"github.com/informer-gen/informer-gen/internal/informertest"
	"github.com/informer-gen/informer-gen/runtime/controller"
	"github.com/informer-gen/informer-gen/runtime/manager"
	"github.com/informer-gen/informer-gen/runtime/manager/election"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/testkit/sourcetest"
)

// event is an object of Events that needs no informer.
var event = &corev1.ObjectReference{APIVersion: "v1", Kind: "ConfigMap", Namespace: "shop", Name: "blue"}

// telling returns a controller that records an Event in New, one at its start and one at its end.
func telling(name string, change ...func(*manager.Descriptor)) manager.Descriptor {
	d := manager.Descriptor{Name: name, New: func(_ context.Context, c *manager.Context) (manager.Runnable, error) {
		record := func(reason string) { c.Recorder.Eventf(event, nil, corev1.EventTypeNormal, reason, "Run", c.Name) }
		record("Made")
		return manager.RunnableFunc(func(ctx context.Context) error {
			record("Started")
			<-ctx.Done()
			record("Ended")
			return nil
		}), nil
	}}
	for _, f := range change {
		f(&d)
	}
	return d
}

// reasons returns the sent Events.
func (r *rig) reasons() string {
	synctest.Wait()
	var got []string
	for _, e := range r.sent.All() {
		got = append(got, e.ReportingController+":"+e.Reason)
	}
	return strings.Join(sorted(got), " ")
}

// TestEventsOfReconciles: the object of the Event comes from an informer, and has the controller's
// name. Repeated Events are one.
func TestEventsOfReconciles(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.create("blue")
		m := r.run(func(o *manager.Options) {
			o.Controllers = []manager.Descriptor{{Name: "maps", New: func(_ context.Context, c *manager.Context) (manager.Runnable, error) {
				informer := r.informer()
				return controller.New(c.Name, func(_ context.Context, key object.Key) (controller.Result, error) {
					obj, _ := informer.Store().Snapshot().Get(key)
					c.Recorder.Eventf(obj, nil, corev1.EventTypeWarning, "Full", "Reconcile", "%s is full", key)
					return controller.Result{RequeueAfter: 30 * time.Second}, nil
				}, controller.For(informer))
			}}}
		})
		pass(2 * time.Minute)
		all := r.sent.All()
		same(t, "Events", len(all), 1)
		e := all[0]
		same(t, "the Event", fmt.Sprint(e.ReportingController, e.Regarding.APIVersion, e.Regarding.Kind, e.Regarding.Namespace, e.Regarding.Name, e.Regarding.UID != "", e.Note, e.Series.Count > 1),
			fmt.Sprint("maps", "v1", "ConfigMap", "shop", "blue", true, "shop/blue is full", true))
		same(t, "Run", m.End(), errStop)
	})
}

// TestLastEventsAreSent: before Run returns.
func TestLastEventsAreSent(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		m := r.runs(telling("a"), telling("b", always))
		same(t, "Events", r.reasons(), "a:Made a:Started b:Made b:Started")
		same(t, "Stop", m.Stop(t.Context(), "a"), nil)
		same(t, "Events of a stopped controller", r.reasons(), "a:Ended a:Made a:Started b:Made b:Started")
		same(t, "Run", m.End(), errStop)
		same(t, "Events", r.reasons(), "a:Ended a:Made a:Started b:Ended b:Made b:Started")
	})
}

// TestEventsOfStarted: of a controller that Start makes, also if it has nothing to run.
func TestEventsOfStartedController(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		m := r.run(func(o *manager.Options) {
			o.Select = []string{}
			o.Controllers = []manager.Descriptor{telling("a"), {Name: "nothing", New: func(_ context.Context, c *manager.Context) (manager.Runnable, error) {
				c.Recorder.Eventf(event, nil, corev1.EventTypeNormal, "Off", "New", "nothing to do")
				return nil, nil
			}}}
		})
		same(t, "Start", errors.Join(m.Start("a"), m.Start("nothing"), m.Start("nothing")), nil)
		same(t, "Events", r.reasons(), "a:Made a:Started nothing:Off")
		same(t, "Run", m.End(), errStop)
		same(t, "Events", r.reasons(), "a:Ended a:Made a:Started nothing:Off")
	})
}

// TestEventsAreFenced: those of a led controller are sent while its process leads, the last ones
// before the lease is released.
func TestEventsAreFenced(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		tells := func(name string) func(*process, *manager.Options) {
			return func(_ *process, o *manager.Options) { o.Controllers = []manager.Descriptor{telling(name)} }
		}
		a := r.process("a", tells("of-a"))
		b := r.process("b", tells("of-b"))
		pass(time.Minute)
		same(t, "Events", r.reasons(), "of-a:Made of-a:Started")
		requests := len(r.server.Requests())
		same(t, "Run of a", a.End(), errStop)
		same(t, "Events", r.reasons(), "of-a:Ended of-a:Made of-a:Started")
		var writes []string
		for _, req := range r.server.Requests()[requests:] {
			if req.Method != http.MethodGet {
				writes = append(writes, req.Method+" "+req.Resource.Resource)
			}
		}
		same(t, "writes at the end", writes, []string{"POST events", "PUT leases"})
		pass(next)
		same(t, "Events of the next leader", r.reasons(), "of-a:Ended of-a:Made of-a:Started of-b:Made of-b:Started")
		b.disconnected.Store(true)
		<-b.Done
		same(t, "lost", errors.Is(b.Err, election.ErrLost), true)
		same(t, "Events after the loss", r.reasons(), "of-a:Ended of-a:Made of-a:Started of-b:Made of-b:Started")
	})
}

// TestHangingEventsEndWithRun: after ShutdownTimeout, with a line in the log.
func TestHangingEventsEndWithRun(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.server.Inject(sourcetest.Fault{Times: sourcetest.Always, Resource: eventsResource, Do: func(a *sourcetest.Answer) { a.Err = sourcetest.ErrHang }})
		m := r.new(func(o *manager.Options) {
			o.ShutdownTimeout = 5 * time.Second
			o.Controllers = []manager.Descriptor{telling("a")}
		})
		var logs strings.Builder
		ctx, cancel := context.WithCancelCause(klog.NewContext(t.Context(), informertest.LogTo(&logs, 0)))
		ended := make(chan error)
		go func() { ended <- m.Run(ctx) }()
		pass(time.Minute)
		cancel(errStop)
		start := time.Now()
		same(t, "Run", <-ended, errStop)
		same(t, "the end takes", time.Since(start), 5*time.Second)
		if !strings.Contains(logs.String(), `"msg"="Events of a controller are lost" "error"="events: 3 Events of a were not sent: ShutdownTimeout of 5s has passed" "controller"="a"`) {
			t.Errorf("the log has\n%s", logs.String())
		}
	})
}

// TestErrorOfNewEndsRecorders: no goroutine is left, and the log has the number of Events.
func TestErrorOfNewEndsRecorders(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		m := r.runs(telling("a"), manager.Descriptor{Name: "b", New: func(context.Context, *manager.Context) (manager.Runnable, error) {
			return nil, errors.New("no such disk")
		}})
		<-m.Done
		wantError(t, m.Err, "manager: Run: controller b: New: no such disk")
		same(t, "Events", r.reasons(), "")
	})
}
