// SPDX-License-Identifier: Apache-2.0

package writing

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/writer"
)

// applyVersions applies objects that are gone, have another version, or have a UID.
func applyVersions(s *stage) {
	w, write := s.boats(writer.Options{FieldManager: "captain"}), mustWrite[*Boat](s)
	isConflict := func(err error) bool { return apierrors.IsConflict(err) }
	mustFail[*Boat](s, "Apply of a UID without an object", isConflict)(w.Apply(s.ctx, s.boat("ada", func(b *Boat) { b.UID = "u" })))
	if _, err := w.Get(s.ctx, object.Key{Namespace: s.ns, Name: "ada"}); !apierrors.IsNotFound(err) {
		s.Errorf("Get after the refused Apply: error %v, want NotFound", err)
	}
	// A version doesn't prevent the creation.
	first := write(w.Apply(s.ctx, s.boat("ada", func(b *Boat) { b.ResourceVersion, b.Spec.Hands = "7", new(int32(1)) })))
	if _, err := w.Delete(s.ctx, first, metav1.DeleteOptions{}); err != nil {
		s.Fatal(err)
	}
	handed := func(b *Boat) { b.Spec.Hands = new(int32(2)) }
	second := write(w.Apply(s.ctx, s.boat("ada", handed))) // without a UID, it creates a new object
	if second.UID == first.UID {
		s.Errorf("Apply of a deleted object: UID %s before, %s after; want a new one", first.UID, second.UID)
	}
	third := write(w.Patch(s.ctx, object.KeyOf(second), types.MergePatchType, []byte(`{"status":{"trips":1},"metadata":{"labels":{"a":"b"}}}`)))
	at := func(version string) *Boat {
		return s.boat("ada", func(b *Boat) { b.ResourceVersion, b.Spec.Hands = version, new(int32(3)) })
	}
	mustFail[*Boat](s, "an apply of a stale version", isConflict)(w.Apply(s.ctx, at(second.ResourceVersion)))
	if got := write(w.Apply(s.ctx, at(third.ResourceVersion))); *got.Spec.Hands != 3 {
		s.Errorf("applied %+v", got)
	}
}

// status checks that a write to the status or to the main object leaves the other alone.
func status(s *stage) {
	w, write := s.boats(writer.Options{FieldManager: "captain"}), mustWrite[*Boat](s)
	both := func(b *Boat) { b.Spec.Berth, b.Status.Trips, b.Labels = "north", 3, map[string]string{"a": "b"} }
	ada := write(w.Create(s.ctx, s.boat("ada", both)))
	if ada.Status.Trips != 0 || ada.Generation != 1 {
		s.Errorf("created %+v", ada)
	}
	other := func(b *Boat) error {
		b.Spec.Berth, b.Status.Trips, b.Labels, b.Finalizers = "south", 5, map[string]string{"a": "c"}, []string{"example.com/x"}
		return nil
	}
	got := write(w.MutateStatus(s.ctx, ada, other))
	if got.Spec.Berth != "north" || got.Status.Trips != 5 || got.Labels["a"] != "b" || len(got.Finalizers) > 0 || got.Generation != 1 {
		s.Errorf("a status changed %+v", got)
	}
	// Fields updated under the same name belong to another manager.
	isConflict := func(err error) bool { return apierrors.IsConflict(err) }
	mustFail[*Boat](s, "an apply after an update", isConflict)(w.ApplyStatus(s.ctx, s.boat("ada", both)))
	got = write(s.boats(writer.Options{FieldManager: "captain", Force: true}).ApplyStatus(s.ctx, s.boat("ada", both)))
	if got.Spec.Berth != "north" || got.Status.Trips != 3 {
		s.Errorf("an applied status changed %+v", got)
	}
	var under []string
	for _, m := range got.ManagedFields {
		under = append(under, fmt.Sprint(m.Manager, " ", m.Operation, " ", m.Subresource))
	}
	slices.Sort(under)
	if want := []string{"captain Apply status", "captain Update ", "captain Update status"}; !slices.Equal(under, want) {
		s.Errorf("the managers are %q, want %q", under, want)
	}
	if got = write(w.Apply(s.ctx, s.boat("ada", func(b *Boat) { b.Spec.Hands, b.Status.Trips = new(int32(1)), 9 }))); got.Status.Trips != 3 {
		s.Errorf("an apply changed the status to %+v", got.Status)
	}
	// For some built-in kinds, a write of the status also writes metadata.
	p := newWriter[*corev1.Pod](s, pods, writer.Options{})
	pod := mustWrite[*corev1.Pod](s)(p.Create(s.ctx, s.pod("web", "")))
	got2 := mustWrite[*corev1.Pod](s)(p.MutateStatus(s.ctx, pod, func(p *corev1.Pod) error {
		p.Status.Phase, p.Annotations, p.Spec.NodeName = corev1.PodRunning, map[string]string{"a": "b"}, "n"
		return nil
	}))
	if got2.Status.Phase != corev1.PodRunning || got2.Spec.NodeName != "" || got2.Annotations["a"] != "b" {
		s.Errorf("a Pod's status changed %+v", got2)
	}
}

func (s *stage) pod(name, node string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: s.meta(name), Spec: corev1.PodSpec{
		NodeName: node, TerminationGracePeriodSeconds: new(int64(3600)), AutomountServiceAccountToken: new(false),
		Containers: []corev1.Container{{Name: "c", Image: "i"}},
	}}
}

// dryRuns checks that dry runs are validated like writes, and leave no trace.
func dryRuns(s *stage) {
	w, write := s.boats(writer.Options{}), mustWrite[*Boat](s)
	dry := s.boats(writer.Options{FieldManager: "captain", DryRun: true, OnWrite: func(_ context.Context, token object.Token) {
		s.Errorf("a dry run has written %+v", token)
	}})
	ada := write(w.Create(s.ctx, s.boat("ada", func(b *Boat) { b.Finalizers = []string{"example.com/x"} })))
	mustFail[*Boat](s, "Create of an existing object", apierrors.IsAlreadyExists)(dry.Create(s.ctx, s.boat("ada")))
	mustFail[*Boat](s, "Create of an invalid object", apierrors.IsInvalid)(dry.Create(s.ctx, s.boat("bob", func(b *Boat) { b.Spec.Hands = new(int32(10)) })))
	if got := write(dry.Create(s.ctx, &Boat{ObjectMeta: metav1.ObjectMeta{Namespace: s.ns, GenerateName: "fleet-"}})); !strings.HasPrefix(got.Name, "fleet-") || got.Spec.Berth != "quay" {
		s.Errorf("created %+v", got)
	}
	if got := write(dry.Apply(s.ctx, s.boat("bob"))); got.Name != "bob" {
		s.Errorf("applied %+v", got)
	}
	write(dry.RemoveFinalizer(s.ctx, ada, "example.com/x"))
	write(dry.MutateStatus(s.ctx, ada, func(b *Boat) error { b.Status.Trips = 1; return nil }))
	for range 2 {
		if token, err := dry.Delete(s.ctx, ada, metav1.DeleteOptions{}); err != nil || token != (object.Token{}) {
			s.Errorf("a delete: %+v, %v", token, err)
		}
	}
	stale := ada.DeepCopyObject().(*Boat)
	stale.ResourceVersion = "1"
	mustFail[*Boat](s, "a stale state", apierrors.IsConflict)(dry.Update(s.ctx, stale))
	if got, err := w.Get(s.ctx, object.KeyOf(ada)); err != nil || got.ResourceVersion != ada.ResourceVersion || got.DeletionTimestamp != nil {
		s.Errorf("got %+v, %v", got, err)
	}
	if _, err := w.Get(s.ctx, object.Key{Namespace: s.ns, Name: "bob"}); !apierrors.IsNotFound(err) {
		s.Errorf("Get after a dry run of Create: error %v, want NotFound", err)
	}
}

// deletes checks all sorts of deletes: the token is Gone if the object is, and the cache follows.
func deletes(s *stage) {
	c := cache[*corev1.Pod](s, pods)
	w, write := newWriter[*corev1.Pod](s, pods, writer.Options{}), mustWrite[*corev1.Pod](s)
	del := func(p *corev1.Pod, gone bool, opts metav1.DeleteOptions) {
		s.Helper()
		token, err := w.Delete(s.ctx, p, opts)
		if err != nil || token.Gone != gone || token.UID != p.UID {
			s.Fatalf("Delete(%s) = %+v, %v; want Gone %v", p.Name, token, err, gone)
		}
		if err := awaitToken(s, c, token); err != nil {
			s.Errorf("after Delete(%s): %v", p.Name, err)
		}
	}
	now := *metav1.NewDeleteOptions(0)
	del(write(w.Create(s.ctx, s.pod("without-node", ""))), true, metav1.DeleteOptions{})
	running := write(w.Create(s.ctx, s.pod("running", "n")))
	del(running, false, metav1.DeleteOptions{}) // its grace period begins
	del(running, false, metav1.DeleteOptions{}) // and goes on
	del(running, true, now)
	held := s.pod("held", "n")
	held.Finalizers = []string{"example.com/x"}
	held = write(w.Create(s.ctx, held))
	del(held, false, now)
	_, token, err := w.RemoveFinalizer(s.ctx, held, "example.com/x")
	if err != nil || !token.Gone {
		s.Errorf("the last finalizer: %+v, %v", token, err)
	}
	s.ok(awaitToken(s, c, token))
	// Without its finalizer, it waits for its node.
	slow := s.pod("slow", "n")
	slow.Finalizers = []string{"example.com/x"}
	slow = write(w.Create(s.ctx, slow))
	del(slow, false, metav1.DeleteOptions{})
	_, token, err = w.RemoveFinalizer(s.ctx, slow, "example.com/x")
	if err != nil || token.Gone {
		s.Errorf("the last finalizer of a Pod in its grace period: %+v, %v", token, err)
	}
	s.ok(awaitToken(s, c, token))
	del(slow, true, now)
	fore := write(w.Create(s.ctx, s.pod("fore", "")))
	// Only a garbage collector would remove it.
	del(fore, false, metav1.DeleteOptions{PropagationPolicy: new(metav1.DeletePropagationForeground)})
	if _, err := w.Delete(s.ctx, running, now); !apierrors.IsNotFound(err) {
		s.Errorf("Delete of a deleted object: error %v, want NotFound", err)
	}

	jc := cache[*batchv1.Job](s, jobs)
	j := newWriter[*batchv1.Job](s, jobs, writer.Options{})
	job := &batchv1.Job{ObjectMeta: s.meta("pi")}
	job.Spec.Template.Spec = s.pod("", "").Spec
	job.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyNever
	job = mustWrite[*batchv1.Job](s)(j.Create(s.ctx, job))
	// A Job orphans its Pods, which needs a garbage collector.
	if token, err = j.Delete(s.ctx, job, metav1.DeleteOptions{}); err != nil || token.Gone {
		s.Errorf("a Job: %+v, %v", token, err)
	}
	s.ok(awaitToken(s, jc, token))
	n := newWriter[*corev1.Namespace](s, namespaces, writer.Options{})
	ns, err := n.Get(s.ctx, object.Key{Name: s.ns})
	s.ok(err)
	if token, err = n.Delete(s.ctx, ns, metav1.DeleteOptions{}); err != nil || token.Gone {
		s.Errorf("a namespace: %+v, %v", token, err)
	}
	mustFail[*corev1.Pod](s, "a create in a namespace that ends", apierrors.IsForbidden)(w.Create(s.ctx, s.pod("late", "")))
}

// finalizers has many writers add and remove their finalizers at the same time. The token of
// exactly one removal is Gone.
func finalizers(s *stage) {
	c, w := cache[*Boat](s, boats), s.boats(writer.Options{})
	ada := mustWrite[*Boat](s)(w.Create(s.ctx, s.boat("ada")))
	const many = 6
	name := func(n int) string { return fmt.Sprintf("example.com/f%d", n) }
	s.together(many, func(n int) error {
		_, token, err := retryConflicts(func() (*Boat, object.Token, error) { return w.AddFinalizer(s.ctx, ada, name(n)) })
		if err == nil {
			err = awaitToken(s, c, token)
		}
		return err
	})
	token, err := w.Delete(s.ctx, ada, metav1.DeleteOptions{})
	if err != nil || token.Gone {
		s.Fatal(token, err)
	}
	s.ok(awaitToken(s, c, token))
	held, _ := c.Store().Snapshot().Get(token.Key)
	if len(held.Finalizers) != many {
		s.Fatalf("the object has the finalizers %q, want %d of them", held.Finalizers, many)
	}
	gone := make(chan object.Token, many)
	s.together(many, func(n int) error {
		_, token, err := retryConflicts(func() (*Boat, object.Token, error) { return w.RemoveFinalizer(s.ctx, held, name(n)) })
		if err == nil {
			err = awaitToken(s, c, token)
		}
		if token.Gone {
			gone <- token
		}
		return err
	})
	if len(gone) != 1 {
		s.Errorf("%d removals returned a token that is Gone, want 1", len(gone))
	}
}

// retryConflicts repeats a call whose ten attempts have all met conflicts.
func retryConflicts[T any](call func() (T, object.Token, error)) (obj T, token object.Token, err error) {
	for {
		if obj, token, err = call(); !apierrors.IsConflict(err) {
			return obj, token, err
		}
	}
}

// concurrentWrites writes one object in all ways at the same time. No write is lost, patches don't
// conflict, and the cache has each write once its token was awaited.
func concurrentWrites(s *stage) {
	each := 10
	if testing.Short() {
		each = 3
	}
	c, w := cache[*Boat](s, boats), s.boats(writer.Options{FieldManager: "many"})
	ada, token, err := w.Create(s.ctx, s.boat("ada"))
	s.ok(err)
	s.ok(awaitToken(s, c, token))
	key := object.KeyOf(ada)
	mine := func(n int) *writer.Writer[*Boat] {
		return s.boats(writer.Options{FieldManager: fmt.Sprint("m", n), Force: true})
	}
	s.together(8, func(n int) error {
		for i := range each {
			var token object.Token
			var err error
			switch n % 4 {
			case 0: // from the cached object, which may be stale
				cached, _ := c.Store().Snapshot().Get(key)
				_, token, err = retryConflicts(func() (*Boat, object.Token, error) {
					return w.MutateStatus(s.ctx, cached, func(b *Boat) error { b.Status.Trips++; return nil })
				})
			case 1:
				_, token, err = w.Patch(s.ctx, key, types.MergePatchType, fmt.Appendf(nil, `{"metadata":{"annotations":{"p%d-%d":"x"}}}`, n, i))
			case 2:
				_, token, err = mine(n).Apply(s.ctx, s.boat("ada", func(b *Boat) { b.Spec.Parts = []Part{{fmt.Sprint("part", n), int32(i + 1)}} }))
			case 3:
				_, token, err = update(s, w, key, func(b *Boat) { metav1.SetMetaDataAnnotation(&b.ObjectMeta, fmt.Sprintf("u%d-%d", n, i), "x") })
			}
			if err == nil {
				err = awaitToken(s, c, token)
			}
			if err != nil {
				return fmt.Errorf("write %d of writer %d: %w", i, n, err)
			}
		}
		return nil
	})
	got, err := w.Get(s.ctx, key)
	s.ok(err)
	if int(got.Status.Trips) != 2*each || len(got.Annotations) != 4*each || len(got.Spec.Parts) != 2 || int(got.Spec.Parts[0].Count) != each {
		s.Errorf("got %d trips, %d annotations and the parts %v, want %d, %d and two parts of %d", got.Status.Trips, len(got.Annotations), got.Spec.Parts, 2*each, 4*each, each)
	}
	if cached, _ := c.Store().Snapshot().Get(key); cached.ResourceVersion != got.ResourceVersion {
		s.Errorf("the cached object has version %s, the server's %s", cached.ResourceVersion, got.ResourceVersion)
	}
}

// update is the loop of a client that doesn't use Mutate.
func update(s *stage, w *writer.Writer[*Boat], key object.Key, change func(*Boat)) (*Boat, object.Token, error) {
	return retryConflicts(func() (*Boat, object.Token, error) {
		now, err := w.Get(s.ctx, key)
		if err != nil {
			return nil, object.Token{}, err
		}
		change(now)
		return w.Update(s.ctx, now)
	})
}

// together runs n functions at the same time.
func (s *stage) together(n int, f func(n int) error) {
	s.Helper()
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			if err := f(i); err != nil {
				s.Error(err)
			}
		})
	}
	all.Wait()
	if s.Failed() {
		s.FailNow()
	}
}
