// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/informer-gen/informer-gen/devserver"
	"github.com/informer-gen/informer-gen/test/internal/endstate"
	"github.com/informer-gen/informer-gen/test/internal/poll"
	harbourv1 "github.com/informer-gen/informer-gen/test/interop/kubebuilder/api/v1"
)

// user changes objects, and waits for the controllers' work.
type user struct {
	client.Client
	t *testing.T
}

// sail exercises all features of the controllers, and returns the API's objects at the end.
func sail(t *testing.T, server *devserver.Server) (endState []string) {
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	c, err := client.New(server.Config(), client.Options{Scheme: scheme, HTTPClient: &http.Client{Transport: transport}})
	if err != nil {
		t.Fatal(err)
	}
	u := &user{c, t}
	in := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: "default", Name: name} }

	u.create(&corev1.ConfigMap{ObjectMeta: in("north"), Data: map[string]string{"depth": "5"}})
	u.create(&harbourv1.Fleet{ObjectMeta: in("red"), Spec: harbourv1.FleetSpec{Size: 3, Chart: "north"}})
	u.awaitFleet("red", 3)
	u.awaitDepths("red-0: 5", "red-1: 5", "red-2: 5")

	// A chart is created later: found by the watch and the index.
	u.create(&harbourv1.Fleet{ObjectMeta: in("blue"), Spec: harbourv1.FleetSpec{Size: 1, Chart: "south"}})
	u.awaitCondition("blue", "ChartMissing")
	u.create(&corev1.ConfigMap{ObjectMeta: in("south"), Data: map[string]string{"depth": "7"}})
	u.awaitFleet("blue", 1)
	u.awaitDepths("blue-0: 7", "red-0: 5", "red-1: 5", "red-2: 5")

	// Owned objects are deleted, a chart changes, and a Fleet gets a new size.
	u.replaced(&corev1.ConfigMap{ObjectMeta: in("red-0-log")})
	u.replaced(&harbourv1.Boat{ObjectMeta: in("red-1")})
	u.awaitDepths("blue-0: 7", "red-0: 5", "red-1: 5", "red-2: 5")
	u.patch(&corev1.ConfigMap{ObjectMeta: in("north")}, `{"data":{"depth":"9"}}`)
	u.awaitDepths("blue-0: 7", "red-0: 9", "red-1: 9", "red-2: 9")
	u.patch(&harbourv1.Fleet{ObjectMeta: in("red")}, `{"spec":{"size":2}}`)
	u.awaitFleet("red", 2)
	u.awaitDepths("blue-0: 7", "red-0: 9", "red-1: 9")

	// A finalizer.
	blue := &harbourv1.Fleet{ObjectMeta: in("blue")}
	if err := u.Delete(t.Context(), blue); err != nil {
		t.Fatal(err)
	}
	poll.Until(u.t, func() error {
		if err := u.Get(u.t.Context(), client.ObjectKeyFromObject(blue), blue); client.IgnoreNotFound(err) != nil || err == nil {
			return fmt.Errorf("the fleet is still there: %v, error %v", blue, err)
		}
		return nil
	})
	u.awaitDepths("red-0: 9", "red-1: 9")
	u.awaitEvents(
		"Boat blue-0: LogBegun: began log blue-0-log",
		"Boat red-0: LogBegun: began log red-0-log",
		"Boat red-1: LogBegun: began log red-1-log",
		"Boat red-2: LogBegun: began log red-2-log",
		"Fleet blue: Launched: launched boat blue-0",
		"Fleet blue: Scrapped: scrapped boat blue-0",
		"Fleet red: Launched: launched boat red-0",
		"Fleet red: Launched: launched boat red-1",
		"Fleet red: Launched: launched boat red-2",
		"Fleet red: Scrapped: scrapped boat red-2",
	)
	return u.endState()
}

func (u *user) create(obj client.Object) {
	u.t.Helper()
	if err := u.Create(u.t.Context(), obj); err != nil {
		u.t.Fatal(err)
	}
}

func (u *user) patch(obj client.Object, patch string) {
	u.t.Helper()
	if err := u.Patch(u.t.Context(), obj, client.RawPatch(types.MergePatchType, []byte(patch))); err != nil {
		u.t.Fatal(err)
	}
}

// replaced deletes an object, and waits for its replacement of the same name.
func (u *user) replaced(obj client.Object) {
	u.t.Helper()
	key := client.ObjectKeyFromObject(obj)
	if err := u.Get(u.t.Context(), key, obj); err != nil {
		u.t.Fatal(err)
	}
	old := obj.GetUID()
	if err := u.Delete(u.t.Context(), obj); err != nil {
		u.t.Fatal(err)
	}
	poll.Until(u.t, func() error {
		if err := u.Get(u.t.Context(), key, obj); err != nil {
			return err
		}
		if obj.GetUID() == old {
			return fmt.Errorf("%s is still the deleted object", key)
		}
		return nil
	})
}

// awaitFleet waits until a Fleet is ready, and checks its number of Boats.
func (u *user) awaitFleet(name string, boats int32) {
	u.t.Helper()
	fleet := u.awaitCondition(name, harbourv1.ConditionReady)
	if fleet.Spec.Size != boats || fleet.Status.ReadyBoats != boats {
		u.t.Errorf("fleet %s has the size %d and the status %+v", name, fleet.Spec.Size, fleet.Status)
	}
}

// awaitCondition waits until a Fleet's condition is up to date and has a reason.
func (u *user) awaitCondition(name, reason string) *harbourv1.Fleet {
	u.t.Helper()
	fleet := &harbourv1.Fleet{}
	poll.Until(u.t, func() error {
		if err := u.Get(u.t.Context(), client.ObjectKey{Namespace: "default", Name: name}, fleet); err != nil {
			return err
		}
		c := meta.FindStatusCondition(fleet.Status.Conditions, harbourv1.ConditionReady)
		if c == nil || c.Reason != reason || c.ObservedGeneration != fleet.Generation || fleet.Status.ObservedGeneration != fleet.Generation {
			return fmt.Errorf("fleet %s, of generation %d, has the status %+v", name, fleet.Generation, fleet.Status)
		}
		return nil
	})
	return fleet
}

// awaitDepths waits for exactly these Boats, all ready, and for their logs with the depths.
func (u *user) awaitDepths(want ...string) {
	u.t.Helper()
	poll.Until(u.t, func() error {
		var boats harbourv1.BoatList
		if err := u.List(u.t.Context(), &boats); err != nil {
			return err
		}
		var sailing []string
		for _, boat := range boats.Items {
			if c := meta.FindStatusCondition(boat.Status.Conditions, harbourv1.ConditionReady); c == nil || c.ObservedGeneration != boat.Generation || boat.Status.Log == "" {
				return fmt.Errorf("boat %s has the status %+v", boat.Name, boat.Status)
			}
			sailing = append(sailing, boat.Name+": "+boat.Spec.Depth)
		}
		var configMaps corev1.ConfigMapList
		if err := u.List(u.t.Context(), &configMaps, client.InNamespace("default")); err != nil {
			return err
		}
		var logged []string
		for _, cm := range configMaps.Items {
			if name, isLog := strings.CutSuffix(cm.Name, "-log"); isLog {
				logged = append(logged, name+": "+cm.Data["depth"])
			}
		}
		slices.Sort(sailing)
		slices.Sort(logged)
		if !slices.Equal(sailing, want) || !slices.Equal(logged, want) {
			return fmt.Errorf("the boats are %q, the logs %q, want %q", sailing, logged, want)
		}
		return nil
	})
}

// awaitEvents waits for exactly these events. The manager writes them in the background.
func (u *user) awaitEvents(want ...string) {
	u.t.Helper()
	poll.Until(u.t, func() error {
		var list eventsv1.EventList
		if err := u.List(u.t.Context(), &list); err != nil {
			return err
		}
		var got []string
		for _, e := range list.Items {
			got = append(got, fmt.Sprintf("%s %s: %s: %s", e.Regarding.Kind, e.Regarding.Name, e.Reason, e.Note))
		}
		slices.Sort(got)
		if got = slices.Compact(got); !slices.Equal(got, want) {
			return fmt.Errorf("the events are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		return nil
	})
}

// endState returns all objects except events, which awaitEvents has compared.
func (u *user) endState() (lines []string) {
	u.t.Helper()
	for _, kind := range []schema.GroupVersionKind{
		harbourv1.GroupVersion.WithKind("FleetList"), harbourv1.GroupVersion.WithKind("BoatList"), corev1.SchemeGroupVersion.WithKind("ConfigMapList"),
	} {
		var list unstructured.UnstructuredList
		list.SetGroupVersionKind(kind)
		if err := u.List(u.t.Context(), &list, client.InNamespace("default")); err != nil {
			u.t.Fatal(err)
		}
		of, err := endstate.Lines(list.Items)
		if err != nil {
			u.t.Fatal(err)
		}
		lines = append(lines, of...)
	}
	return lines
}
