// SPDX-License-Identifier: Apache-2.0

package events_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/klog/v2"

	"github.com/informer-gen/informer-gen/internal/informertest"
	"github.com/informer-gen/informer-gen/runtime/manager/events"
	"github.com/informer-gen/informer-gen/testkit/sourcetest"
)

func TestEvent(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.run()
		node := &corev1.ObjectReference{APIVersion: "v1", Kind: "Node", Name: "system:a", UID: "uid-of-2"}
		r.recorder.AnnotatedEventf(configMap("blue"), node, map[string]string{"a": "b"}, warning, "Full", "Reconcile", "%d of %d", 3, 4)
		r.recorder.Eventf(node, nil, normal, "Seen", "Reconcile", "100%%")
		synctest.Wait()
		all := r.events.All()
		same(t, "Events", len(all), 2)
		for _, e := range all {
			if e.Regarding.Name == "system:a" {
				same(t, "namespace of a cluster-scoped object's", e.Namespace, "default")
				same(t, "note", e.Note, "100%")
				continue
			}
			same(t, "name", strings.HasPrefix(e.Name, "blue."), true)
			same(t, "the rest", fmt.Sprint(e.Namespace, e.Annotations, e.Type, e.Reason, e.Action, e.Note, e.EventTime.Time.Equal(time.Now())), fmt.Sprint("shop", map[string]string{"a": "b"}, warning, "Full", "Reconcile", "3 of 4", true))
			same(t, "source", e.ReportingController+" "+fmt.Sprint(strings.HasPrefix(e.ReportingInstance, "maps-")), "maps true")
			same(t, "object", e.Regarding, corev1.ObjectReference{APIVersion: "v1", Kind: "ConfigMap", Namespace: "shop", Name: "blue", UID: "uid-of-1", ResourceVersion: "7"})
			same(t, "related object", *e.Related, *node)
		}
	})
}

// TestRepeatedEventsAreOne: with a count, which is written once a minute, until six minutes have
// passed.
func TestRepeatedEventsAreOne(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.run()
		r.record("blue", "Added", "first")
		r.record("red", "Added", "another object")
		r.record("blue", "Removed", "another reason")
		r.saw("Normal shop/blue: Added first", "Normal shop/blue: Removed another reason", "Normal shop/red: Added another object")
		for range 100 {
			r.record("blue", "Added", "again")
			pass(time.Second)
		}
		r.saw("Normal shop/blue: Added first ×61", "Normal shop/blue: Removed another reason", "Normal shop/red: Added another object")
		pass(time.Minute)
		r.saw("Normal shop/blue: Added first ×101", "Normal shop/blue: Removed another reason", "Normal shop/red: Added another object")
		same(t, "requests", r.writes, 5)
		pass(5 * time.Minute)
		r.record("blue", "Added", "after five minutes")
		r.saw("Normal shop/blue: Added first ×102", "Normal shop/blue: Removed another reason", "Normal shop/red: Added another object")
		pass(7 * time.Minute)
		r.record("blue", "Added", "after seven minutes")
		r.saw("Normal shop/blue: Added after seven minutes", "Normal shop/blue: Added first ×102", "Normal shop/blue: Removed another reason", "Normal shop/red: Added another object")
	})
}

// TestRepeatedBeforeItIsSent: one request writes both.
func TestRepeatedBeforeItIsSent(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.record("blue", "Added", "first")
		r.record("blue", "Added", "second")
		r.run()
		r.saw("Normal shop/blue: Added first ×2")
		same(t, "requests", r.writes, 1)
	})
}

// TestExpiredEventIsMadeAgain: API servers delete Events after an hour.
func TestExpiredEventIsMadeAgain(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.run()
		r.record("blue", "Added", "first")
		synctest.Wait()
		r.events.Delete("shop", r.events.All()[0].Name)
		r.record("blue", "Added", "second")
		pass(time.Minute)
		r.saw("Normal shop/blue: Added first ×2")
	})
}

func TestUnreachableServer(t *testing.T) {
	for name, fault := range map[string]func(*sourcetest.Answer){
		"no connection": sourcetest.Fail(errors.New("no route to host")),
		"429":           sourcetest.Refuse(http.StatusTooManyRequests),
		"503":           sourcetest.Refuse(http.StatusServiceUnavailable),
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, r *rig) {
				r.run()
				r.answer(fault)
				r.record("blue", "Added", "first")
				r.record("red", "Added", "second")
				pass(20 * time.Second)
				r.saw()
				r.answer(nil)
				pass(30 * time.Second)
				r.saw("Normal shop/blue: Added first", "Normal shop/red: Added second")
				r.logged()
				r.answer(fault)
				r.record("green", "Added", "third")
				pass(time.Hour)
				r.logged(`"An Event was dropped"`, `"note"="third"`)
				r.answer(nil)
				pass(time.Hour)
				r.saw("Normal shop/blue: Added first", "Normal shop/red: Added second")
			})
		})
	}
}

// TestLostAnswerMakesNoSecondEvent: the server had written the Event.
func TestLostAnswerMakesNoSecondEvent(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.run()
		r.answer(func(a *sourcetest.Answer) {
			r.answer(nil)
			a.Cut, a.CutErr = 1, io.ErrUnexpectedEOF
		})
		r.record("blue", "Added", "first")
		pass(time.Minute)
		r.saw("Normal shop/blue: Added first")
		r.logged()
	})
}

// TestMissingRightIsLoggedOnce: with the rule to add. Events are sent once it is there.
func TestMissingRightIsLoggedOnce(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.run()
		r.answer(sourcetest.Refuse(http.StatusForbidden))
		r.record("blue", "Added", "first")
		r.record("red", "Added", "first")
		synctest.Wait()
		same(t, "lines", strings.Count(r.logs.String(), "\n"), 1)
		r.logged("Events are dropped; grant the verbs create and patch for events of the API group events.k8s.io", `"controller"="maps"`)
		r.answer(nil)
		pass(2 * time.Minute)
		r.saw()
		r.record("blue", "Added", "second")
		r.saw("Normal shop/blue: Added first ×2")
	})
}

func TestRefusedEventIsDropped(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.run()
		r.answer(sourcetest.Refuse(http.StatusUnprocessableEntity))
		r.record("blue", "Added", "first")
		r.logged(`"An Event was dropped"`, `"reason"="Added"`, `"note"="first"`)
		same(t, "requests", r.writes, 1)
		r.answer(func(a *sourcetest.Answer) {
			a.Status = sourcetest.Status(http.StatusForbidden)
			a.Status.Details = &metav1.StatusDetails{Causes: []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}}}
		})
		r.record("red", "Added", "into a namespace that is being deleted")
		r.logged()
	})
}

// TestTooManyEvents: 1,000 wait while the server doesn't take them.
func TestTooManyEvents(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		for n := range 1003 {
			r.record(fmt.Sprint("map-", n), "Added", "first")
		}
		r.record("map-0", "Added", "second") // is in a series that waits
		r.run()
		pass(time.Minute)
		same(t, "Events", len(r.events.All()), 1000)
		r.logged("Events were dropped, since too many waited to be sent", `"dropped"=3`)
		for n := range 4000 { // more than are remembered
			if r.record(fmt.Sprint("map-", n), "Removed", "first"); n%100 == 0 {
				synctest.Wait()
			}
		}
		synctest.Wait()
		same(t, "Events", len(r.events.All()), 5000)
		r.logged()
	})
}

func TestShutdown(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.run()
		r.record("blue", "Added", "first")
		synctest.Wait()
		r.record("blue", "Added", "second") // its count waits for its minute
		start := time.Now()
		same(t, "Shutdown", errors.Join(r.recorder.Shutdown(t.Context()), r.recorder.Shutdown(t.Context())), nil)
		same(t, "it takes", time.Since(start), time.Duration(0))
		same(t, "Run", <-r.ended, nil)
		r.record("red", "Added", "too late")
		r.saw("Normal shop/blue: Added first ×2")
		r.logged()
	})
}

// TestShutdownWhileOneIsSent: its repetition is sent, too.
func TestShutdownWhileOneIsSent(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.run()
		r.answer(func(a *sourcetest.Answer) { a.Delay = time.Second })
		r.record("blue", "Added", "first")
		synctest.Wait()
		r.record("blue", "Added", "second")
		same(t, "Shutdown", r.recorder.Shutdown(t.Context()), nil)
		r.saw("Normal shop/blue: Added first ×2")
	})
}

// TestShutdownOfUnreachableServer: each Event is tried once more.
func TestShutdownOfUnreachableServer(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.run()
		r.answer(sourcetest.Refuse(http.StatusServiceUnavailable))
		r.record("blue", "Added", "first")
		r.record("red", "Added", "first")
		pass(time.Second / 2)
		start := time.Now()
		err := r.recorder.Shutdown(t.Context())
		if err == nil || !strings.HasPrefix(err.Error(), "events: 2 Events of maps were not sent: ") || !apierrors.IsServiceUnavailable(err) {
			t.Errorf("Shutdown: %v", err)
		}
		same(t, "it takes", time.Since(start), time.Duration(0))
		same(t, "Run", <-r.ended, nil)
	})
}

// TestShutdownOfHangingServer: it returns when its context is done.
func TestShutdownOfHangingServer(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.answer(func(a *sourcetest.Answer) { a.Err = sourcetest.ErrHang })
		r.run()
		r.record("blue", "Added", "first")
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		start := time.Now()
		err := r.recorder.Shutdown(ctx)
		if err == nil || err.Error() != "events: 1 Events of maps were not sent: context deadline exceeded" {
			t.Errorf("Shutdown: %v", err)
		}
		same(t, "it takes", time.Since(start), 5*time.Second)
	})
}

func TestShutdownWithoutRun(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		same(t, "without Events", r.recorder.Shutdown(t.Context()), nil)
	})
	inBubble(t, func(t *testing.T, r *rig) {
		r.record("blue", "Added", "first")
		err := r.recorder.Shutdown(t.Context())
		same(t, "with one", err, "events: 1 Events of maps were not sent: Run has not sent them")
	})
}

// TestRunTwice: the first Run goes on.
func TestRunTwice(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.run()
		synctest.Wait()
		var none context.Context
		same(t, "the second Run", r.recorder.Run(t.Context()), "events: Run of the recorder of maps: Run was called before; make another recorder")
		same(t, "a nil context", r.recorder.Run(none), "events: Run of the recorder of maps: the context is nil")
		r.record("blue", "Added", "first")
		r.saw("Normal shop/blue: Added first")
	})
}

// TestWrongEvents: an error says all that is wrong.
func TestWrongEvents(t *testing.T) {
	var logs strings.Builder
	defer klog.ClearLogger()
	inBubble(t, func(t *testing.T, r *rig) {
		klog.SetLogger(informertest.LogTo(&logs, 0))
		r.run()
		var none *corev1.ConfigMap
		for want, record := range map[string]func(){
			"the object is nil":  func() { r.recorder.Eventf(nil, nil, normal, "Added", "Add", "") },
			"the object is nil ": func() { r.recorder.Eventf(none, nil, normal, "Added", "Add", "") },
			"the *v1.ConfigMap has no apiVersion and kind of its resource; pass the informer's object, or a *corev1.ObjectReference": func() { r.recorder.Eventf(informertest.ConfigMap("blue"), nil, normal, "Added", "Add", "") },
			"the *v1.PartialObjectMetadata has no apiVersion and kind of its resource; pass the informer's object, or a *corev1.ObjectReference": func() {
				m := &metav1.PartialObjectMetadata{}
				m.APIVersion, m.Kind = "meta.k8s.io/v1", "PartialObjectMetadata"
				r.recorder.Eventf(m, nil, normal, "Added", "Add", "")
			},
			"the *v1.Status has no metadata; pass a *corev1.ObjectReference": func() {
				r.recorder.Eventf(&metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}}, nil, normal, "Added", "Add", "")
			},
			"the related object: the *v1.ConfigMap has no apiVersion": func() {
				r.recorder.Eventf(configMap("blue"), informertest.ConfigMap("red"), normal, "Added", "Add", "")
			},
			"the type is \"Error\"; it must be Normal or Warning\nthe reason is \"\"; it must have 1 to 128 bytes\nthe action is \"\"; it must have 1 to 128 bytes": func() { r.recorder.Eventf(configMap("blue"), nil, "Error", "", "", "") },
		} {
			record()
			synctest.Wait()
			if text := logs.String(); !strings.Contains(text, strings.Trim(strconv.Quote(strings.TrimSpace(want)), `"`)) || !strings.Contains(text, `"controller"="maps"`) {
				t.Errorf("the log lacks %q:\n%s", want, text)
			}
			logs.Reset()
		}
		r.recorder.Eventf(configMap("blue"), none, normal, "Added", "Add", "%s", strings.Repeat("é", 1000))
		synctest.Wait()
		for _, e := range r.events.All() {
			same(t, "a long note", e.Note, strings.Repeat("é", 512))
		}
		same(t, "Events", len(r.events.All()), 1)
	})
}

// TestNilRecorder: tests of reconcilers may have none.
func TestNilRecorder(t *testing.T) {
	var r *events.Recorder
	r.Eventf(configMap("blue"), nil, normal, "Added", "Add", "")
	var _ interface { // client-go's events.EventRecorder and AnnotatedEventRecorder
		Eventf(regarding, related runtime.Object, eventtype, reason, action, note string, args ...any)
		AnnotatedEventf(regarding, related runtime.Object, annotations map[string]string, eventtype, reason, action, note string, args ...any)
	} = r
}

func TestNewRecorderWithWrongArguments(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		_, err := events.New(nil, "")
		same(t, "without a name", err, "events.New: the name of the controller is empty")
		if _, err := events.New(nil, "maps"); err == nil || !strings.HasPrefix(err.Error(), "events.New: writer.New: ") {
			t.Errorf("without a client: %v", err)
		}
	})
}
