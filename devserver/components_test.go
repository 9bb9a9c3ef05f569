// SPDX-License-Identifier: Apache-2.0

package devserver_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/tools/record"
)

// The recorders of both groups write, and the other group has their events.
func TestEvents(t *testing.T) {
	t.Parallel()
	s := withBuiltIns(t)
	c := typed(t, s)
	pod, err := c.CoreV1().Pods("default").Create(t.Context(), newPod("p"), metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}

	newer := events.NewBroadcaster(&events.EventSinkImpl{Interface: c.EventsV1()})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if err := newer.StartRecordingToSinkWithContext(ctx); err != nil {
		t.Fatal(err)
	}
	defer newer.Shutdown()
	newer.NewRecorder(scheme.Scheme, "new.example.com/it").Eventf(pod, nil, corev1.EventTypeNormal, "Tried", "Trying", "attempt %d", 1)

	older := record.NewBroadcaster(record.WithContext(ctx))
	older.StartRecordingToSink(&typedcorev1.EventSinkImpl{Interface: c.CoreV1().Events("")})
	defer older.Shutdown()
	recorder := older.NewRecorder(scheme.Scheme, corev1.EventSource{Component: "old"})
	for range 3 {
		recorder.Event(pod, corev1.EventTypeWarning, "Failed", "no luck")
	}

	eventually(t, func() error {
		list, err := c.EventsV1().Events("default").List(t.Context(), metav1.ListOptions{FieldSelector: "reason=Failed,regarding.name=p"})
		if err != nil || len(list.Items) != 1 || list.Items[0].DeprecatedCount != 3 || list.Items[0].Note != "no luck" {
			return fmt.Errorf("events.k8s.io has %+v, %v", list, err)
		}
		return nil
	})
	eventually(t, func() error {
		list, err := c.CoreV1().Events("default").List(t.Context(), metav1.ListOptions{FieldSelector: "reason=Tried,involvedObject.uid=" + string(pod.UID)})
		if err != nil || len(list.Items) != 1 || list.Items[0].Message != "attempt 1" || list.Items[0].ReportingController != "new.example.com/it" {
			return fmt.Errorf("core has %+v, %v", list, err)
		}
		return nil
	})

	w, err := c.EventsV1().Events("default").Watch(t.Context(), metav1.ListOptions{FieldSelector: "reason=Watched"})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	recorder.Event(pod, corev1.EventTypeNormal, "Watched", "in the other group")
	if e, _ := next(t, w); e.Object.(*eventsv1.Event).Regarding.Name != "p" {
		t.Errorf("the watch of events.k8s.io got %+v", e.Object)
	}
}

// Readers and writers of the same objects in both formats at once: the internal version and v1 are
// one Go type, so what two of them shared the race detector would find.
func TestBuiltInsSideBySide(t *testing.T) {
	t.Parallel()
	s := withBuiltIns(t)
	var group sync.WaitGroup
	const objects, rounds = 3, 20
	formats := []*rest.Config{s.Config(), s.Config()}
	formats[1].ContentType, formats[1].AcceptContentTypes = "application/vnd.kubernetes.protobuf", "application/vnd.kubernetes.protobuf"
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	watches, endWatches := context.WithCancel(ctx)
	var watching sync.WaitGroup
	for i, config := range formats {
		c, err := kubernetes.NewForConfig(config)
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			w, err := c.CoreV1().ConfigMaps("default").Watch(watches, metav1.ListOptions{})
			if err != nil {
				t.Fatal(err)
			}
			watching.Go(func() {
				for e := range w.ResultChan() {
					if cm, ok := e.Object.(*corev1.ConfigMap); watches.Err() == nil && (!ok || cm.Name == "") {
						t.Errorf("event %s %v", e.Type, e.Object)
					}
				}
			})
		}
		for n := range objects {
			group.Go(func() {
				for range rounds {
					meta := metav1.ObjectMeta{Name: fmt.Sprint(i, "-", n)}
					if _, err := c.CoreV1().ConfigMaps("default").Create(ctx, &corev1.ConfigMap{ObjectMeta: meta}, metav1.CreateOptions{}); err != nil {
						t.Error(err)
					}
					// The watch cache may be behind, so the list may lack what was just created.
					if _, err := c.CoreV1().ConfigMaps("default").List(ctx, metav1.ListOptions{ResourceVersion: "0"}); err != nil {
						t.Error(err)
					}
					if err := c.CoreV1().ConfigMaps("default").Delete(ctx, meta.Name, metav1.DeleteOptions{}); err != nil {
						t.Error(err)
					}
				}
			})
		}
	}
	group.Wait()
	endWatches()
	watching.Wait()
}
