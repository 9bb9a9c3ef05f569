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
		{"dry runs", dryRuns}, {"deletes", deletes}, {"finalizers", finalizers}, {"concurrent writes", concurrentWrites},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(newStage(t, config)) })
	}
	t.Run("lost answers", func(t *testing.T) { lostAnswers(t, config) })
}

// stale writes from a stale state: the write conflicts, or starts again from the present state.
func stale(s *stage) {
	w, write := s.boats(writer.Options{}), mustWrite[*Boat](s)
	old := write(w.Create(s.ctx, s.boat("ada")))
	now := write(w.Patch(s.ctx, object.KeyOf(old), types.MergePatchType, []byte(`{"spec":{"berth":"north"}}`)))
	changed := old.DeepCopyObject().(*Boat)
	changed.Spec.Berth, changed.Status.Trips = "south", 7
	conflict := mustFail[*Boat](s, "a stale state", apierrors.IsConflict)
	conflict(w.Update(s.ctx, changed))
	conflict(w.UpdateStatus(s.ctx, changed))
	if _, err := w.Delete(s.ctx, old, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{ResourceVersion: &old.ResourceVersion}}); !apierrors.IsConflict(err) {
		s.Errorf("Delete of a stale state: error %v, want a conflict", err)
	}
	if got, err := w.Get(s.ctx, object.KeyOf(old)); err != nil || got.ResourceVersion != now.ResourceVersion {
		s.Errorf("got %+v, %v", got, err)
	}
	calls := 0
	trip := func(b *Boat) error { calls++; b.Status.Trips++; return nil }
	if got := write(w.MutateStatus(s.ctx, old, trip)); calls != 2 || got.Status.Trips != 1 || got.Spec.Berth != "north" {
		s.Errorf("after %d calls: %+v", calls, got)
	}
	// A stale patch conflicts only if it has a version.
	key := object.KeyOf(old)
	conflict(w.Patch(s.ctx, key, types.MergePatchType, []byte(`{"metadata":{"resourceVersion":"`+old.ResourceVersion+`"},"spec":{"berth":"east"}}`)))
	mustFail[*Boat](s, "a patch of another UID", apierrors.IsInvalid)(
		w.Patch(s.ctx, key, types.MergePatchType, []byte(`{"metadata":{"uid":"another"},"spec":{"berth":"east"}}`)))
	if got := write(w.Patch(s.ctx, key, types.MergePatchType, []byte(`{"spec":{"berth":"west"}}`))); got.Spec.Berth != "west" {
		s.Errorf("patched to %+v", got)
	}
	mustFail[*Boat](s, "the test of a JSON patch", apierrors.IsInvalid)(
		w.Patch(s.ctx, key, types.JSONPatchType, []byte(`[{"op":"test","path":"/spec/berth","value":"east"}]`)))
}

// successor replaces an object by another of the same name. No write to the old object reaches the
// new one.
func successor(s *stage) {
	w, write := s.boats(writer.Options{FieldManager: "captain"}), mustWrite[*Boat](s)
	old := write(w.Create(s.ctx, s.boat("ada", func(b *Boat) { b.Finalizers = []string{"example.com/old"} })))
	if token, err := w.Delete(s.ctx, old, metav1.DeleteOptions{}); err != nil || token.Gone {
		s.Fatal(token, err)
	}
	held, err := w.Get(s.ctx, object.KeyOf(old))
	s.ok(err)
	if _, token, err := w.RemoveFinalizer(s.ctx, held, "example.com/old"); err != nil || !token.Gone {
		s.Fatal(token, err)
	}
	mustFail[*Boat](s, "Mutate of a deleted object", apierrors.IsNotFound)(w.Mutate(s.ctx, old, berth("south")))
	mustFail[*Boat](s, "Update of a deleted object", apierrors.IsNotFound)(w.Update(s.ctx, old))
	recreated := write(w.Create(s.ctx, s.boat("ada", func(b *Boat) { b.Finalizers = []string{"example.com/old"} })))
	is := func(err error) bool { return apierrors.IsConflict(err) }
	changed := old.DeepCopyObject().(*Boat)
	changed.Spec.Berth, changed.Status.Trips = "south", 1
	mustFail[*Boat](s, "Update", is)(w.Update(s.ctx, changed))
	mustFail[*Boat](s, "UpdateStatus", is)(w.UpdateStatus(s.ctx, changed))
	mustFail[*Boat](s, "Mutate", is)(w.Mutate(s.ctx, old, berth("south")))
	mustFail[*Boat](s, "MutateStatus", is)(w.MutateStatus(s.ctx, old, func(b *Boat) error { b.Status.Trips = 1; return nil }))
	mustFail[*Boat](s, "AddFinalizer", is)(w.AddFinalizer(s.ctx, old, "example.com/late"))
	mustFail[*Boat](s, "RemoveFinalizer", is)(w.RemoveFinalizer(s.ctx, held, "example.com/old"))
	// Both objects have the same version, as on a server restored from a backup.
	changed.ResourceVersion = recreated.ResourceVersion
	mustFail[*Boat](s, "Update of another UID", is)(w.Update(s.ctx, changed))
	mustFail[*Boat](s, "Mutate of another UID", is)(w.Mutate(s.ctx, changed, berth("north")))
	mustFail[*Boat](s, "RemoveFinalizer of another UID", apierrors.IsInvalid)(w.RemoveFinalizer(s.ctx, changed, "example.com/old"))
	mustFail[*Boat](s, "AddFinalizer of another UID", apierrors.IsInvalid)(w.AddFinalizer(s.ctx, changed, "example.com/late"))
	byUID := s.boat("ada", func(b *Boat) { b.UID, b.Spec.Berth = old.UID, "south" })
	mustFail[*Boat](s, "Apply of another UID", is)(w.Apply(s.ctx, byUID))
	if _, err := w.Delete(s.ctx, old, metav1.DeleteOptions{}); !is(err) {
		s.Errorf("Delete of the old object: error %v, want a conflict", err)
	}
	if got, err := w.Get(s.ctx, object.KeyOf(recreated)); err != nil || got.ResourceVersion != recreated.ResourceVersion {
		s.Errorf("the successor is %+v, %v, want %+v", got, err, recreated)
	}
	// Servers ignore the UID of an applied status, but not its version.
	byUID.Status.Trips = 1
	if got := write(w.ApplyStatus(s.ctx, byUID)); got.UID != recreated.UID || got.Status.Trips != 1 {
		s.Errorf("applied %+v", got)
	}
	byUID.ResourceVersion = old.ResourceVersion
	mustFail[*Boat](s, "ApplyStatus of a stale version", is)(w.ApplyStatus(s.ctx, byUID))
}

func berth(name string) func(*Boat) error {
	return func(b *Boat) error { b.Spec.Berth = name; return nil }
}

// createByUpdate updates Leases: servers create these and some other kinds by an update, but don't
// create a deleted object again.
func createByUpdate(s *stage) {
	w := newWriter[*coordinationv1.Lease](s, leases, writer.Options{})
	write := mustWrite[*coordinationv1.Lease](s)
	lease := write(w.Create(s.ctx, &coordinationv1.Lease{ObjectMeta: s.meta("lead")}))
	if token, err := w.Delete(s.ctx, lease, metav1.DeleteOptions{}); err != nil || !token.Gone {
		s.Fatal(token, err)
	}
	renew := func(l *coordinationv1.Lease) error { l.Spec.LeaseTransitions = new(int32(1)); return nil }
	changed := lease.DeepCopy()
	s.ok(renew(changed))
	mustFail[*coordinationv1.Lease](s, "Update", apierrors.IsConflict)(w.Update(s.ctx, changed))
	mustFail[*coordinationv1.Lease](s, "Mutate", apierrors.IsNotFound)(w.Mutate(s.ctx, lease, renew))
	mustFail[*coordinationv1.Lease](s, "AddFinalizer", apierrors.IsNotFound)(w.AddFinalizer(s.ctx, lease, "example.com/late"))
	if _, err := w.Get(s.ctx, object.KeyOf(lease)); !apierrors.IsNotFound(err) {
		s.Errorf("Get after the deletion: error %v, want NotFound", err)
	}
	// Without a version, an update applies to any state, if the server allows that.
	first := write(w.Update(s.ctx, &coordinationv1.Lease{ObjectMeta: s.meta("lead")}))
	if first.UID == lease.UID {
		s.Errorf("created %+v", first)
	}
	m := s.maps(writer.Options{})
	cm := mustWrite[*corev1.ConfigMap](s)(m.Create(s.ctx, &corev1.ConfigMap{ObjectMeta: s.meta("a"), Data: map[string]string{"a": "1"}}))
	unversioned := &corev1.ConfigMap{ObjectMeta: s.meta("a"), Data: map[string]string{"b": "1"}}
	if got := mustWrite[*corev1.ConfigMap](s)(m.Update(s.ctx, unversioned)); got.UID != cm.UID || len(got.Data) != 1 {
		s.Errorf("updated to %+v", got)
	}
	b := mustWrite[*Boat](s)(s.boats(writer.Options{}).Create(s.ctx, s.boat("ada")))
	b.ResourceVersion = ""
	mustFail[*Boat](s, "a custom resource without a version", apierrors.IsInvalid)(s.boats(writer.Options{}).Update(s.ctx, b))
}

// names tries invalid names. Writers refuse names that lead to other paths before a request, and
// servers refuse the rest.
func names(s *stage) {
	w := s.boats(writer.Options{FieldManager: "captain"})
	ada := mustWrite[*Boat](s)(w.Create(s.ctx, s.boat("ada")))
	read := func(name string) *Boat {
		b := s.boat(name)
		b.UID, b.ResourceVersion = ada.UID, ada.ResourceVersion
		return b
	}
	for _, name := range []string{"", ".", "..", "ada/status", "../ada", "ada/../ada", "a%2fb", "/", "ada?x=1", "ada#x", "ada\x00", "Ada", "ada ", strings.Repeat("a", 300), "ädä"} {
		if name != "" {
			mustFail[*Boat](s, name, isError)(w.Create(s.ctx, s.boat(name)))
			mustFail[*Boat](s, name, isError)(w.Apply(s.ctx, s.boat(name)))
		}
		mustFail[*Boat](s, name, isError)(w.Update(s.ctx, read(name)))
		mustFail[*Boat](s, name, isError)(w.Patch(s.ctx, object.Key{Namespace: s.ns, Name: name}, types.MergePatchType, []byte(`{"status":{"trips":1}}`)))
		if _, err := w.Delete(s.ctx, read(name), metav1.DeleteOptions{}); err == nil {
			s.Errorf("%q was deleted", name)
		}
		if _, err := w.Get(s.ctx, object.Key{Namespace: s.ns, Name: name}); err == nil {
			s.Errorf("there is %q", name)
		}
	}
	mustFail[*Boat](s, "a namespace", isError)(w.Create(s.ctx, &Boat{ObjectMeta: metav1.ObjectMeta{Namespace: "../" + s.ns, Name: "bob"}}))
	mustFail[*Boat](s, "no namespace", isError)(w.Create(s.ctx, &Boat{ObjectMeta: metav1.ObjectMeta{Name: "bob"}}))
	if got, err := w.Get(s.ctx, object.KeyOf(ada)); err != nil || got.ResourceVersion != ada.ResourceVersion {
		s.Errorf("got %+v, %v", got, err)
	}
}

func isError(err error) bool { return err != nil }

// refusals checks that errors have the reasons for which package apierrors has functions.
func refusals(s *stage) {
	w, write := s.boats(writer.Options{}), mustWrite[*Boat](s)
	ada := write(w.Create(s.ctx, s.boat("ada")))
	exists := func(err error) bool { return apierrors.IsAlreadyExists(err) && !apierrors.IsConflict(err) }
	mustFail[*Boat](s, "a second create", exists)(w.Create(s.ctx, s.boat("ada")))
	generated := func() *Boat { return &Boat{ObjectMeta: metav1.ObjectMeta{Namespace: s.ns, GenerateName: "fleet-"}} }
	a, b := write(w.Create(s.ctx, generated())), write(w.Create(s.ctx, generated()))
	if a.Name == b.Name || !strings.HasPrefix(a.Name, "fleet-") || !strings.HasPrefix(b.Name, "fleet-") {
		s.Errorf("generated %q and %q", a.Name, b.Name)
	}
	crowded := func(b *Boat) { b.Spec.Hands = new(int32(10)) }
	mustFail[*Boat](s, "an invalid create", apierrors.IsInvalid)(w.Create(s.ctx, s.boat("bob", crowded)))
	mustFail[*Boat](s, "an invalid mutate", apierrors.IsInvalid)(w.Mutate(s.ctx, ada, func(b *Boat) error { crowded(b); return nil }))
	captain := s.boats(writer.Options{FieldManager: "captain"})
	mustFail[*Boat](s, "an invalid apply", apierrors.IsInvalid)(captain.Apply(s.ctx, s.boat("ada", crowded)))
	mustFail[*Boat](s, "an apply of a key twice", isError)(captain.Apply(s.ctx, s.boat("ada", func(b *Boat) { b.Spec.Parts = []Part{{Name: "oar"}, {Name: "oar"}} })))
	// An object from the server has managed fields.
	mustFail[*Boat](s, "Apply of an object from the server", apierrors.IsBadRequest)(captain.Apply(s.ctx, ada))
	mustFail[*Boat](s, "Create of an object from the server", isError)(w.Create(s.ctx, ada))
	missing := object.Key{Namespace: s.ns, Name: "missing"}
	mustFail[*Boat](s, "Patch of a missing object", apierrors.IsNotFound)(w.Patch(s.ctx, missing, types.MergePatchType, []byte(`{}`)))
	mustFail[*Boat](s, "a strategic patch of a custom resource", apierrors.IsUnsupportedMediaType)(
		w.Patch(s.ctx, object.KeyOf(ada), types.StrategicMergePatchType, []byte(`{}`)))
	mustFail[*Boat](s, "no patch", apierrors.IsBadRequest)(w.Patch(s.ctx, object.KeyOf(ada), types.MergePatchType, []byte(`{`)))
	cm := mustWrite[*corev1.ConfigMap](s)(s.maps(writer.Options{}).Create(s.ctx, &corev1.ConfigMap{ObjectMeta: s.meta("a")}))
	mustFail[*corev1.ConfigMap](s, "the status of a kind without one", apierrors.IsNotFound)(s.maps(writer.Options{}).UpdateStatus(s.ctx, cm))
	if got, err := w.Get(s.ctx, object.KeyOf(ada)); err != nil || got.ResourceVersion != ada.ResourceVersion {
		s.Errorf("got %+v, %v", got, err)
	}
}

// apply applies by two managers: each owns its fields, and a field goes with its last owner.
func apply(s *stage) {
	write := mustWrite[*Boat](s)
	captain, mate := s.boats(writer.Options{FieldManager: "captain"}), s.boats(writer.Options{FieldManager: "mate"})
	boss := s.boats(writer.Options{FieldManager: "mate", Force: true})
	at := func(berth string) *Boat { return s.boat("ada", func(b *Boat) { b.Spec.Berth = berth }) }
	write(captain.Apply(s.ctx, at("north")))
	conflict := func(err error) bool { return apierrors.IsConflict(err) && strings.Contains(err.Error(), `"captain"`) }
	mustFail[*Boat](s, "another value", conflict)(mate.Apply(s.ctx, at("south")))
	mustFail[*Boat](s, "another value by a patch", conflict)(mate.Patch(s.ctx, object.Key{Namespace: s.ns, Name: "ada"}, types.ApplyPatchType,
		[]byte(`{"apiVersion":"writing.example.com/v1","kind":"Boat","spec":{"berth":"south"}}`)))
	// Both own the same value. It stays as long as one of them does.
	write(mate.Apply(s.ctx, at("north")))
	if got := write(mate.Apply(s.ctx, at(""))); got.Spec.Berth != "north" {
		s.Errorf("after the removal by one owner: %+v", got.Spec)
	}
	if got := write(boss.Apply(s.ctx, at("south"))); got.Spec.Berth != "south" || slices.Contains(owners(got, "berth"), "captain") {
		s.Errorf("forced to %+v, owned by %q", got.Spec, owners(got, "berth"))
	}
	mustFail[*Boat](s, "the former owner", func(err error) bool { return apierrors.IsConflict(err) })(captain.Apply(s.ctx, at("north")))
	if got := write(mate.Apply(s.ctx, at(""))); got.Spec.Berth != "quay" { // the default
		s.Errorf("after the removal by the last owner: %+v", got.Spec)
	}
	// A manager's apply doesn't remove fields of its update.
	now := write(captain.Mutate(s.ctx, write(captain.Apply(s.ctx, at(""))), berth("west")))
	if got := write(captain.Apply(s.ctx, at(""))); got.Spec.Berth != "west" {
		s.Errorf("after an update and an apply: %+v", got.Spec)
	}
	mustFail[*Boat](s, "a field of its own update", func(err error) bool { return apierrors.IsConflict(err) })(captain.Apply(s.ctx, at("east")))
	// A pointer applies a zero; items belong to their manager by key.
	part := func(name string, count int32) *Boat {
		return s.boat("ada", func(b *Boat) { b.Spec.Hands, b.Spec.Parts = new(int32(0)), []Part{{name, count}} })
	}
	write(captain.Apply(s.ctx, part("oar", 2)))
	got := write(mate.Apply(s.ctx, part("sail", 0)))
	if *got.Spec.Hands != 0 || len(got.Spec.Parts) != 2 || got.Spec.Berth != now.Spec.Berth {
		s.Errorf("after Apply by both: %+v", got.Spec)
	}
	if got = write(captain.Apply(s.ctx, at(""))); len(got.Spec.Parts) != 1 || got.Spec.Parts[0].Name != "sail" || got.Spec.Hands == nil {
		s.Errorf("after Apply without the captain's part: %+v", got.Spec)
	}
}

// owners returns the managers of a field of the spec.
func owners(b *Boat, field string) (all []string) {
	for _, m := range b.ManagedFields {
		text, err := json.Marshal(m)
		if err == nil && strings.Contains(string(text), `"f:`+field+`"`) {
			all = append(all, m.Manager)
		}
	}
	return all
}
