// SPDX-License-Identifier: Apache-2.0

package sourcetest_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/informer-gen/informer-gen/testkit/sourcetest"
)

const inWidgets = "/apis/samples.io/v1/namespaces/shop/widgets"

// alarm has a time, which JSON rounds to seconds.
type alarm struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		At metav1.Time `json:"at"`
	} `json:"spec"`
}

func (a *alarm) DeepCopyObject() runtime.Object {
	if a == nil {
		return nil
	}
	c := *a
	a.ObjectMeta.DeepCopyInto(&c.ObjectMeta)
	return &c
}

// TestLabelLeavesWrittenObject: a test writes an object that differs from its decoded JSON. A
// client's change of a label leaves the rest as written.
func TestLabelLeavesWrittenObject(t *testing.T) {
	relabel := func(server *sourcetest.Server) {
		t.Helper()
		w := call(t, server, "PATCH", inWidgets+"/a", `{"metadata":{"labels":{"color":"red"}}}`, "Content-Type", "application/merge-patch+json")
		if w.meta.Generation != 1 {
			t.Errorf("generation %d after a change of labels, want 1: %s", w.meta.Generation, w.raw)
		}
	}

	server := sourcetest.New()
	alarms := sourcetest.Serve[*alarm](server, widgetResource, "Widget")
	at := &alarm{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "a"}}
	at.Spec.At = metav1.NewTime(time.Unix(1000, 5))
	if stored := alarms.Create(at); stored.Spec.At.Nanosecond() != 0 || at.Spec.At.Nanosecond() != 5 {
		t.Errorf("the time is stored as %v; the test's own is now %v", stored.Spec.At, at.Spec.At)
	}
	relabel(server)

	server = sourcetest.New()
	widgets := sourcetest.Serve[*unstructured.Unstructured](server, widgetResource, "Widget")
	for _, replicas := range []any{float64(3), 3} { // from encoding/json, and from Go code
		widget := &unstructured.Unstructured{Object: map[string]any{
			"metadata": map[string]any{"namespace": "shop", "name": "a"}, "spec": map[string]any{"replicas": replicas},
		}}
		stored := widgets.Create(widget)
		if n, ok, err := unstructured.NestedInt64(stored.Object, "spec", "replicas"); n != 3 || !ok || err != nil {
			t.Errorf("%T is stored as %v, %v, %v; want 3", replicas, n, ok, err)
		}
		relabel(server)
		widgets.Delete("shop", "a")
	}
}

// unreadable can't be decoded from its own JSON.
type unreadable struct{ alarm }

func (o *unreadable) DeepCopyObject() runtime.Object {
	return &unreadable{*o.alarm.DeepCopyObject().(*alarm)}
}

func (o *unreadable) MarshalJSON() ([]byte, error) { return json.Marshal([]int{1}) }

func TestObjectsThatCannotBeStoredAreNamed(t *testing.T) {
	alarms := sourcetest.Serve[*alarm](sourcetest.New(), widgetResource, "Widget")
	collection := sourcetest.Serve[*unreadable](sourcetest.New(), widgetResource, "Widget")
	for want, misuse := range map[string]func(){
		`sourcetest: Create widgets.samples.io "": the object is nil`: func() { alarms.Create(nil) },
		`sourcetest: Update widgets.samples.io "": the object is nil`: func() { alarms.Update(nil) },
		`sourcetest: Create widgets.samples.io "a": it can't be read from its JSON: `: func() {
			collection.Create(&unreadable{alarm{ObjectMeta: metav1.ObjectMeta{Name: "a"}}})
		},
	} {
		func() {
			defer func() {
				if got := fmt.Sprint(recover()); !strings.HasPrefix(got, want) {
					t.Errorf("panic %q, want %q", got, want)
				}
			}()
			misuse()
		}()
	}
}
