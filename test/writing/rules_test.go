// SPDX-License-Identifier: Apache-2.0

package writing

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/writer"
)

// run runs all tests.
func run(t *testing.T, config *rest.Config) {
	for _, test := range []struct {
		name string
		run  func(*stage)
	}{
		{"stale", stale}, {"successor", successor}, {"create by update", createByUpdate}, {"names", names},
		{"refusals", refusals}, {"apply", apply}, {"apply versions", applyVersions}, {"status", status},
		{"dry runs", dryRuns}, {"deletes", deletes}, {"finalizers", finalizers}, {"crowd", crowd},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(newStage(t, config)) })
	}
	t.Run("lost answers", func(t *testing.T) { lostAnswers(t, config) })
}

// stale writes from a state that others have changed: it conflicts, or starts from theirs.
func stale(s *stage) {
	w, done := s.boats(writer.Options{}), wrote[*Boat](s)
	old := done(w.Create(s.ctx, s.boat("ada")))
	now := done(w.Patch(s.ctx, object.KeyOf(old), types.MergePatchType, []byte(`{"spec":{"berth":"north"}}`)))
	changed := old.DeepCopyObject().(*Boat)
	changed.Spec.Berth, changed.Status.Trips = "south", 7
	conflict := refused[*Boat](s, "a stale state", apierrors.IsConflict)
	conflict(w.Update(s.ctx, changed))
	conflict(w.UpdateStatus(s.ctx, changed))
	if _, err := w.Delete(s.ctx, old, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{ResourceVersion: &old.ResourceVersion}}); !apierrors.IsConflict(err) {
		s.Errorf("a delete of a stale state: %v", err)
	}
	if got, err := w.Get(s.ctx, object.KeyOf(old)); err != nil || got.ResourceVersion != now.ResourceVersion {
		s.Errorf("got %+v, %v", got, err)
	}
	calls := 0
	trip := func(b *Boat) error { calls++; b.Status.Trips++; return nil }
	if got := done(w.MutateStatus(s.ctx, old, trip)); calls != 2 || got.Status.Trips != 1 || got.Spec.Berth != "north" {
		s.Errorf("after %d calls: %+v", calls, got)
	}
	// A stale patch conflicts if it says which version it is of, and not otherwise.
	key := object.KeyOf(old)
	conflict(w.Patch(s.ctx, key, types.MergePatchType, []byte(`{"metadata":{"resourceVersion":"`+old.ResourceVersion+`"},"spec":{"berth":"east"}}`)))
	refused[*Boat](s, "a patch of another UID", apierrors.IsInvalid)(
		w.Patch(s.ctx, key, types.MergePatchType, []byte(`{"metadata":{"uid":"another"},"spec":{"berth":"east"}}`)))
	if got := done(w.Patch(s.ctx, key, types.MergePatchType, []byte(`{"spec":{"berth":"west"}}`))); got.Spec.Berth != "west" {
		s.Errorf("patched to %+v", got)
	}
	refused[*Boat](s, "the test of a JSON patch", apierrors.IsInvalid)(
		w.Patch(s.ctx, key, types.JSONPatchType, []byte(`[{"op":"test","path":"/spec/berth","value":"east"}]`)))
}

// successor takes the place of an object that was read before. No write that was meant for the old
// one reaches it.
func successor(s *stage) {
	w, done := s.boats(writer.Options{FieldManager: "captain"}), wrote[*Boat](s)
	old := done(w.Create(s.ctx, s.boat("ada", func(b *Boat) { b.Finalizers = []string{"example.com/old"} })))
	if token, err := w.Delete(s.ctx, old, metav1.DeleteOptions{}); err != nil || token.Gone {
		s.Fatal(token, err)
	}
	held, err := w.Get(s.ctx, object.KeyOf(old))
	s.ok(err)
	if _, token, err := w.RemoveFinalizer(s.ctx, held, "example.com/old"); err != nil || !token.Gone {
		s.Fatal(token, err)
	}
	refused[*Boat](s, "a mutate of what is gone", apierrors.IsNotFound)(w.Mutate(s.ctx, old, berth("south")))
	refused[*Boat](s, "an update of what is gone", apierrors.IsNotFound)(w.Update(s.ctx, old))
	anew := done(w.Create(s.ctx, s.boat("ada", func(b *Boat) { b.Finalizers = []string{"example.com/old"} })))
	is := func(err error) bool { return apierrors.IsConflict(err) }
	changed := old.DeepCopyObject().(*Boat)
	changed.Spec.Berth, changed.Status.Trips = "south", 1
	refused[*Boat](s, "Update", is)(w.Update(s.ctx, changed))
	refused[*Boat](s, "UpdateStatus", is)(w.UpdateStatus(s.ctx, changed))
	refused[*Boat](s, "Mutate", is)(w.Mutate(s.ctx, old, berth("south")))
	refused[*Boat](s, "MutateStatus", is)(w.MutateStatus(s.ctx, old, func(b *Boat) error { b.Status.Trips = 1; return nil }))
	refused[*Boat](s, "AddFinalizer", is)(w.AddFinalizer(s.ctx, old, "example.com/late"))
	refused[*Boat](s, "RemoveFinalizer", is)(w.RemoveFinalizer(s.ctx, held, "example.com/old"))
	// The version of the old object is also that of the successor, as on a server that was restored
	// from a backup.
	changed.ResourceVersion = anew.ResourceVersion
	refused[*Boat](s, "Update of another UID", is)(w.Update(s.ctx, changed))
	refused[*Boat](s, "Mutate of another UID", is)(w.Mutate(s.ctx, changed, berth("north")))
	refused[*Boat](s, "RemoveFinalizer of another UID", apierrors.IsInvalid)(w.RemoveFinalizer(s.ctx, changed, "example.com/old"))
	refused[*Boat](s, "AddFinalizer of another UID", apierrors.IsInvalid)(w.AddFinalizer(s.ctx, changed, "example.com/late"))
	byUID := s.boat("ada", func(b *Boat) { b.UID, b.Spec.Berth = old.UID, "south" })
	refused[*Boat](s, "Apply of another UID", is)(w.Apply(s.ctx, byUID))
	if _, err := w.Delete(s.ctx, old, metav1.DeleteOptions{}); !is(err) {
		s.Errorf("Delete: %v", err)
	}
	if got, err := w.Get(s.ctx, object.KeyOf(anew)); err != nil || got.ResourceVersion != anew.ResourceVersion {
		s.Errorf("the successor is %+v, %v, want %+v", got, err, anew)
	}
	// Servers ignore the UID of an applied status, but not its version.
	byUID.Status.Trips = 1
	if got := done(w.ApplyStatus(s.ctx, byUID)); got.UID != anew.UID || got.Status.Trips != 1 {
		s.Errorf("applied %+v", got)
	}
	byUID.ResourceVersion = old.ResourceVersion
	refused[*Boat](s, "ApplyStatus of a stale version", is)(w.ApplyStatus(s.ctx, byUID))
}

func berth(name string) func(*Boat) error {
	return func(b *Boat) error { b.Spec.Berth = name; return nil }
}

// createByUpdate: servers create Leases and some other kinds by an update, but not those that were
// deleted.
func createByUpdate(s *stage) {
	w := of[*coordinationv1.Lease](s, leases, writer.Options{})
	done := wrote[*coordinationv1.Lease](s)
	lease := done(w.Create(s.ctx, &coordinationv1.Lease{ObjectMeta: s.meta("lead")}))
	if token, err := w.Delete(s.ctx, lease, metav1.DeleteOptions{}); err != nil || !token.Gone {
		s.Fatal(token, err)
	}
	renew := func(l *coordinationv1.Lease) error { l.Spec.LeaseTransitions = new(int32(1)); return nil }
	changed := lease.DeepCopy()
	s.ok(renew(changed))
	refused[*coordinationv1.Lease](s, "Update", apierrors.IsConflict)(w.Update(s.ctx, changed))
	refused[*coordinationv1.Lease](s, "Mutate", apierrors.IsNotFound)(w.Mutate(s.ctx, lease, renew))
	refused[*coordinationv1.Lease](s, "AddFinalizer", apierrors.IsNotFound)(w.AddFinalizer(s.ctx, lease, "example.com/late"))
	if _, err := w.Get(s.ctx, object.KeyOf(lease)); !apierrors.IsNotFound(err) {
		s.Errorf("after its deletion: %v", err)
	}
	// Without a version, an update takes the object as it is, if the server lets it.
	first := done(w.Update(s.ctx, &coordinationv1.Lease{ObjectMeta: s.meta("lead")}))
	if first.UID == lease.UID {
		s.Errorf("created %+v", first)
	}
	m := s.maps(writer.Options{})
	cm := wrote[*corev1.ConfigMap](s)(m.Create(s.ctx, &corev1.ConfigMap{ObjectMeta: s.meta("a"), Data: map[string]string{"a": "1"}}))
	blind := &corev1.ConfigMap{ObjectMeta: s.meta("a"), Data: map[string]string{"b": "1"}}
	if got := wrote[*corev1.ConfigMap](s)(m.Update(s.ctx, blind)); got.UID != cm.UID || len(got.Data) != 1 {
		s.Errorf("updated to %+v", got)
	}
	b := wrote[*Boat](s)(s.boats(writer.Options{}).Create(s.ctx, s.boat("ada")))
	b.ResourceVersion = ""
	refused[*Boat](s, "a custom resource without a version", apierrors.IsInvalid)(s.boats(writer.Options{}).Update(s.ctx, b))
}

// names that could lead elsewhere are refused before a request, invalid names by the server.
func names(s *stage) {
	w := s.boats(writer.Options{FieldManager: "captain"})
	ada := wrote[*Boat](s)(w.Create(s.ctx, s.boat("ada")))
	read := func(name string) *Boat {
		b := s.boat(name)
		b.UID, b.ResourceVersion = ada.UID, ada.ResourceVersion
		return b
	}
	for _, name := range []string{"", ".", "..", "ada/status", "../ada", "ada/../ada", "a%2fb", "/", "ada?x=1", "ada#x", "ada\x00", "Ada", "ada ", strings.Repeat("a", 300), "ädä"} {
		if name != "" {
			refused[*Boat](s, name, failed)(w.Create(s.ctx, s.boat(name)))
			refused[*Boat](s, name, failed)(w.Apply(s.ctx, s.boat(name)))
		}
		refused[*Boat](s, name, failed)(w.Update(s.ctx, read(name)))
		refused[*Boat](s, name, failed)(w.Patch(s.ctx, object.Key{Namespace: s.ns, Name: name}, types.MergePatchType, []byte(`{"status":{"trips":1}}`)))
		if _, err := w.Delete(s.ctx, read(name), metav1.DeleteOptions{}); err == nil {
			s.Errorf("%q was deleted", name)
		}
		if _, err := w.Get(s.ctx, object.Key{Namespace: s.ns, Name: name}); err == nil {
			s.Errorf("there is %q", name)
		}
	}
	refused[*Boat](s, "a namespace", failed)(w.Create(s.ctx, &Boat{ObjectMeta: metav1.ObjectMeta{Namespace: "../" + s.ns, Name: "bob"}}))
	refused[*Boat](s, "no namespace", failed)(w.Create(s.ctx, &Boat{ObjectMeta: metav1.ObjectMeta{Name: "bob"}}))
	if got, err := w.Get(s.ctx, object.KeyOf(ada)); err != nil || got.ResourceVersion != ada.ResourceVersion {
		s.Errorf("got %+v, %v", got, err)
	}
}

func failed(err error) bool { return err != nil }

// refusals have the reasons that package apierrors tests for, and no other.
func refusals(s *stage) {
	w, done := s.boats(writer.Options{}), wrote[*Boat](s)
	ada := done(w.Create(s.ctx, s.boat("ada")))
	exists := func(err error) bool { return apierrors.IsAlreadyExists(err) && !apierrors.IsConflict(err) }
	refused[*Boat](s, "a second create", exists)(w.Create(s.ctx, s.boat("ada")))
	generated := func() *Boat { return &Boat{ObjectMeta: metav1.ObjectMeta{Namespace: s.ns, GenerateName: "fleet-"}} }
	a, b := done(w.Create(s.ctx, generated())), done(w.Create(s.ctx, generated()))
	if a.Name == b.Name || !strings.HasPrefix(a.Name, "fleet-") || !strings.HasPrefix(b.Name, "fleet-") {
		s.Errorf("generated %q and %q", a.Name, b.Name)
	}
	crowded := func(b *Boat) { b.Spec.Hands = new(int32(10)) }
	refused[*Boat](s, "an invalid create", apierrors.IsInvalid)(w.Create(s.ctx, s.boat("bob", crowded)))
	refused[*Boat](s, "an invalid mutate", apierrors.IsInvalid)(w.Mutate(s.ctx, ada, func(b *Boat) error { crowded(b); return nil }))
	captain := s.boats(writer.Options{FieldManager: "captain"})
	refused[*Boat](s, "an invalid apply", apierrors.IsInvalid)(captain.Apply(s.ctx, s.boat("ada", crowded)))
	refused[*Boat](s, "an apply of a key twice", failed)(captain.Apply(s.ctx, s.boat("ada", func(b *Boat) { b.Spec.Parts = []Part{{Name: "oar"}, {Name: "oar"}} })))
	// A state from the server has managed fields.
	refused[*Boat](s, "an apply of a state", apierrors.IsBadRequest)(captain.Apply(s.ctx, ada))
	refused[*Boat](s, "a create of a state", failed)(w.Create(s.ctx, ada))
	missing := object.Key{Namespace: s.ns, Name: "missing"}
	refused[*Boat](s, "a patch of nothing", apierrors.IsNotFound)(w.Patch(s.ctx, missing, types.MergePatchType, []byte(`{}`)))
	refused[*Boat](s, "a strategic patch of a custom resource", apierrors.IsUnsupportedMediaType)(
		w.Patch(s.ctx, object.KeyOf(ada), types.StrategicMergePatchType, []byte(`{}`)))
	refused[*Boat](s, "no patch", apierrors.IsBadRequest)(w.Patch(s.ctx, object.KeyOf(ada), types.MergePatchType, []byte(`{`)))
	cm := wrote[*corev1.ConfigMap](s)(s.maps(writer.Options{}).Create(s.ctx, &corev1.ConfigMap{ObjectMeta: s.meta("a")}))
	refused[*corev1.ConfigMap](s, "the status of a kind without one", apierrors.IsNotFound)(s.maps(writer.Options{}).UpdateStatus(s.ctx, cm))
	if got, err := w.Get(s.ctx, object.KeyOf(ada)); err != nil || got.ResourceVersion != ada.ResourceVersion {
		s.Errorf("got %+v, %v", got, err)
	}
}

// apply by two managers: each owns what it applies, the last owner's removal removes.
func apply(s *stage) {
	done := wrote[*Boat](s)
	captain, mate := s.boats(writer.Options{FieldManager: "captain"}), s.boats(writer.Options{FieldManager: "mate"})
	boss := s.boats(writer.Options{FieldManager: "mate", Force: true})
	at := func(berth string) *Boat { return s.boat("ada", func(b *Boat) { b.Spec.Berth = berth }) }
	done(captain.Apply(s.ctx, at("north")))
	conflict := func(err error) bool { return apierrors.IsConflict(err) && strings.Contains(err.Error(), `"captain"`) }
	refused[*Boat](s, "another value", conflict)(mate.Apply(s.ctx, at("south")))
	refused[*Boat](s, "another value by a patch", conflict)(mate.Patch(s.ctx, object.Key{Namespace: s.ns, Name: "ada"}, types.ApplyPatchType,
		[]byte(`{"apiVersion":"writing.example.com/v1","kind":"Boat","spec":{"berth":"south"}}`)))
	// Both own the same value, which stays for the other one.
	done(mate.Apply(s.ctx, at("north")))
	if got := done(mate.Apply(s.ctx, at(""))); got.Spec.Berth != "north" {
		s.Errorf("one owner's removal leads to %+v", got.Spec)
	}
	if got := done(boss.Apply(s.ctx, at("south"))); got.Spec.Berth != "south" || slices.Contains(owners(got, "berth"), "captain") {
		s.Errorf("forced to %+v, owned by %q", got.Spec, owners(got, "berth"))
	}
	refused[*Boat](s, "the former owner", func(err error) bool { return apierrors.IsConflict(err) })(captain.Apply(s.ctx, at("north")))
	if got := done(mate.Apply(s.ctx, at(""))); got.Spec.Berth != "quay" { // the default
		s.Errorf("the last owner's removal leads to %+v", got.Spec)
	}
	// What a manager has written by an update is not removed by its apply.
	now := done(captain.Mutate(s.ctx, done(captain.Apply(s.ctx, at(""))), berth("west")))
	if got := done(captain.Apply(s.ctx, at(""))); got.Spec.Berth != "west" {
		s.Errorf("after an update and an apply: %+v", got.Spec)
	}
	refused[*Boat](s, "a field of its own update", func(err error) bool { return apierrors.IsConflict(err) })(captain.Apply(s.ctx, at("east")))
	// A zero goes through a pointer; items belong to their manager by key.
	part := func(name string, count int32) *Boat {
		return s.boat("ada", func(b *Boat) { b.Spec.Hands, b.Spec.Parts = new(int32(0)), []Part{{name, count}} })
	}
	done(captain.Apply(s.ctx, part("oar", 2)))
	got := done(mate.Apply(s.ctx, part("sail", 0)))
	if *got.Spec.Hands != 0 || len(got.Spec.Parts) != 2 || got.Spec.Berth != now.Spec.Berth {
		s.Errorf("both have applied %+v", got.Spec)
	}
	if got = done(captain.Apply(s.ctx, at(""))); len(got.Spec.Parts) != 1 || got.Spec.Parts[0].Name != "sail" || got.Spec.Hands == nil {
		s.Errorf("without the captain's: %+v", got.Spec)
	}
}

// owners returns who manages a field of the spec.
func owners(b *Boat, field string) (all []string) {
	for _, m := range b.ManagedFields {
		text, err := json.Marshal(m)
		if err == nil && strings.Contains(string(text), `"f:`+field+`"`) {
			all = append(all, m.Manager)
		}
	}
	return all
}
