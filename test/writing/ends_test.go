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

// applyVersions applies objects that are gone, of another version, or that say which they mean.
func applyVersions(s *stage) {
	w, done := s.boats(writer.Options{FieldManager: "captain"}), wrote[*Boat](s)
	isConflict := func(err error) bool { return apierrors.IsConflict(err) }
	refused[*Boat](s, "an apply of a UID that isn't there", isConflict)(w.Apply(s.ctx, s.boat("ada", func(b *Boat) { b.UID = "u" })))
	if _, err := w.Get(s.ctx, object.Key{Namespace: s.ns, Name: "ada"}); !apierrors.IsNotFound(err) {
		s.Errorf("it made %v", err)
	}
	// A version doesn't refuse the creation.
	first := done(w.Apply(s.ctx, s.boat("ada", func(b *Boat) { b.ResourceVersion, b.Spec.Hands = "7", new(int32(1)) })))
	if _, err := w.Delete(s.ctx, first, metav1.DeleteOptions{}); err != nil {
		s.Fatal(err)
	}
	handed := func(b *Boat) { b.Spec.Hands = new(int32(2)) }
	second := done(w.Apply(s.ctx, s.boat("ada", handed))) // without a UID it is created anew
	if second.UID == first.UID {
		s.Errorf("there was %s, and now there is %s", first.UID, second.UID)
	}
	third := done(w.Patch(s.ctx, object.KeyOf(second), types.MergePatchType, []byte(`{"status":{"trips":1},"metadata":{"labels":{"a":"b"}}}`)))
	at := func(version string) *Boat {
		return s.boat("ada", func(b *Boat) { b.ResourceVersion, b.Spec.Hands = version, new(int32(3)) })
	}
	refused[*Boat](s, "an apply of a stale version", isConflict)(w.Apply(s.ctx, at(second.ResourceVersion)))
	if got := done(w.Apply(s.ctx, at(third.ResourceVersion))); *got.Spec.Hands != 3 {
		s.Errorf("applied %+v", got)
	}
}

// status and main object: a write to one leaves the other alone.
func status(s *stage) {
	w, done := s.boats(writer.Options{FieldManager: "captain"}), wrote[*Boat](s)
	both := func(b *Boat) { b.Spec.Berth, b.Status.Trips, b.Labels = "north", 3, map[string]string{"a": "b"} }
	ada := done(w.Create(s.ctx, s.boat("ada", both)))
	if ada.Status.Trips != 0 || ada.Generation != 1 {
		s.Errorf("created %+v", ada)
	}
	other := func(b *Boat) error {
		b.Spec.Berth, b.Status.Trips, b.Labels, b.Finalizers = "south", 5, map[string]string{"a": "c"}, []string{"example.com/x"}
		return nil
	}
	got := done(w.MutateStatus(s.ctx, ada, other))
	if got.Spec.Berth != "north" || got.Status.Trips != 5 || got.Labels["a"] != "b" || len(got.Finalizers) > 0 || got.Generation != 1 {
		s.Errorf("a status changed %+v", got)
	}
	// What the same name has written by an update belongs to another manager.
	isConflict := func(err error) bool { return apierrors.IsConflict(err) }
	refused[*Boat](s, "an apply after an update", isConflict)(w.ApplyStatus(s.ctx, s.boat("ada", both)))
	got = done(s.boats(writer.Options{FieldManager: "captain", Force: true}).ApplyStatus(s.ctx, s.boat("ada", both)))
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
	if got = done(w.Apply(s.ctx, s.boat("ada", func(b *Boat) { b.Spec.Hands, b.Status.Trips = new(int32(1)), 9 }))); got.Status.Trips != 3 {
		s.Errorf("an apply changed the status to %+v", got.Status)
	}
	// Of some kinds that servers have built in, a write of the status also writes metadata.
	p := of[*corev1.Pod](s, pods, writer.Options{})
	pod := wrote[*corev1.Pod](s)(p.Create(s.ctx, s.pod("web", "")))
	got2 := wrote[*corev1.Pod](s)(p.MutateStatus(s.ctx, pod, func(p *corev1.Pod) error {
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

// dryRuns are checked as if they were written, and leave no trace.
func dryRuns(s *stage) {
	w, done := s.boats(writer.Options{}), wrote[*Boat](s)
	dry := s.boats(writer.Options{FieldManager: "captain", DryRun: true, OnWrite: func(_ context.Context, token object.Token) {
		s.Errorf("a dry run has written %+v", token)
	}})
	ada := done(w.Create(s.ctx, s.boat("ada", func(b *Boat) { b.Finalizers = []string{"example.com/x"} })))
	refused[*Boat](s, "a create of what is there", apierrors.IsAlreadyExists)(dry.Create(s.ctx, s.boat("ada")))
	refused[*Boat](s, "what is invalid", apierrors.IsInvalid)(dry.Create(s.ctx, s.boat("bob", func(b *Boat) { b.Spec.Hands = new(int32(10)) })))
	if got := done(dry.Create(s.ctx, &Boat{ObjectMeta: metav1.ObjectMeta{Namespace: s.ns, GenerateName: "fleet-"}})); !strings.HasPrefix(got.Name, "fleet-") || got.Spec.Berth != "quay" {
		s.Errorf("created %+v", got)
	}
	if got := done(dry.Apply(s.ctx, s.boat("bob"))); got.Name != "bob" {
		s.Errorf("applied %+v", got)
	}
	done(dry.RemoveFinalizer(s.ctx, ada, "example.com/x"))
	done(dry.MutateStatus(s.ctx, ada, func(b *Boat) error { b.Status.Trips = 1; return nil }))
	for range 2 {
		if token, err := dry.Delete(s.ctx, ada, metav1.DeleteOptions{}); err != nil || token != (object.Token{}) {
			s.Errorf("a delete: %+v, %v", token, err)
		}
	}
	stale := ada.DeepCopyObject().(*Boat)
	stale.ResourceVersion = "1"
	refused[*Boat](s, "a stale state", apierrors.IsConflict)(dry.Update(s.ctx, stale))
	if got, err := w.Get(s.ctx, object.KeyOf(ada)); err != nil || got.ResourceVersion != ada.ResourceVersion || got.DeletionTimestamp != nil {
		s.Errorf("got %+v, %v", got, err)
	}
	if _, err := w.Get(s.ctx, object.Key{Namespace: s.ns, Name: "bob"}); !apierrors.IsNotFound(err) {
		s.Errorf("a dry run has made %v", err)
	}
}

// deletes of all sorts: the token is Gone if the object is, and the cache follows.
func deletes(s *stage) {
	c := cache[*corev1.Pod](s, pods)
	w, done := of[*corev1.Pod](s, pods, writer.Options{}), wrote[*corev1.Pod](s)
	del := func(p *corev1.Pod, gone bool, opts metav1.DeleteOptions) {
		s.Helper()
		token, err := w.Delete(s.ctx, p, opts)
		if err != nil || token.Gone != gone || token.UID != p.UID {
			s.Fatalf("the delete of %s: %+v, %v, want gone %v", p.Name, token, err, gone)
		}
		if err := arrived(s, c, token); err != nil {
			s.Errorf("the delete of %s: %v", p.Name, err)
		}
	}
	now := *metav1.NewDeleteOptions(0)
	del(done(w.Create(s.ctx, s.pod("without-node", ""))), true, metav1.DeleteOptions{})
	running := done(w.Create(s.ctx, s.pod("running", "n")))
	del(running, false, metav1.DeleteOptions{}) // its grace period begins
	del(running, false, metav1.DeleteOptions{}) // and goes on
	del(running, true, now)
	held := s.pod("held", "n")
	held.Finalizers = []string{"example.com/x"}
	held = done(w.Create(s.ctx, held))
	del(held, false, now)
	_, token, err := w.RemoveFinalizer(s.ctx, held, "example.com/x")
	if err != nil || !token.Gone {
		s.Errorf("the last finalizer: %+v, %v", token, err)
	}
	s.ok(arrived(s, c, token))
	// With its finalizer gone, it waits for its node.
	slow := s.pod("slow", "n")
	slow.Finalizers = []string{"example.com/x"}
	slow = done(w.Create(s.ctx, slow))
	del(slow, false, metav1.DeleteOptions{})
	_, token, err = w.RemoveFinalizer(s.ctx, slow, "example.com/x")
	if err != nil || token.Gone {
		s.Errorf("the last finalizer of a Pod in its grace period: %+v, %v", token, err)
	}
	s.ok(arrived(s, c, token))
	del(slow, true, now)
	fore := done(w.Create(s.ctx, s.pod("fore", "")))
	// A garbage collector would end it.
	del(fore, false, metav1.DeleteOptions{PropagationPolicy: new(metav1.DeletePropagationForeground)})
	if _, err := w.Delete(s.ctx, running, now); !apierrors.IsNotFound(err) {
		s.Errorf("a delete of what is gone: %v", err)
	}

	jc := cache[*batchv1.Job](s, jobs)
	j := of[*batchv1.Job](s, jobs, writer.Options{})
	job := &batchv1.Job{ObjectMeta: s.meta("pi")}
	job.Spec.Template.Spec = s.pod("", "").Spec
	job.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyNever
	job = wrote[*batchv1.Job](s)(j.Create(s.ctx, job))
	// A Job orphans its Pods, which takes a garbage collector.
	if token, err = j.Delete(s.ctx, job, metav1.DeleteOptions{}); err != nil || token.Gone {
		s.Errorf("a Job: %+v, %v", token, err)
	}
	s.ok(arrived(s, jc, token))
	n := of[*corev1.Namespace](s, namespaces, writer.Options{})
	ns, err := n.Get(s.ctx, object.Key{Name: s.ns})
	s.ok(err)
	if token, err = n.Delete(s.ctx, ns, metav1.DeleteOptions{}); err != nil || token.Gone {
		s.Errorf("a namespace: %+v, %v", token, err)
	}
	refused[*corev1.Pod](s, "a create in a namespace that ends", apierrors.IsForbidden)(w.Create(s.ctx, s.pod("late", "")))
}

// finalizers of many, who add and remove theirs at the same time: one of them ends the object, and
// knows it.
func finalizers(s *stage) {
	c, w := cache[*Boat](s, boats), s.boats(writer.Options{})
	ada := wrote[*Boat](s)(w.Create(s.ctx, s.boat("ada")))
	const many = 6
	name := func(n int) string { return fmt.Sprintf("example.com/f%d", n) }
	s.together(many, func(n int) error {
		_, token, err := again(func() (*Boat, object.Token, error) { return w.AddFinalizer(s.ctx, ada, name(n)) })
		if err == nil {
			err = arrived(s, c, token)
		}
		return err
	})
	token, err := w.Delete(s.ctx, ada, metav1.DeleteOptions{})
	if err != nil || token.Gone {
		s.Fatal(token, err)
	}
	s.ok(arrived(s, c, token))
	held, _ := c.Store().Snapshot().Get(token.Key)
	if len(held.Finalizers) != many {
		s.Fatalf("the finalizers are %q", held.Finalizers)
	}
	gone := make(chan object.Token, many)
	s.together(many, func(n int) error {
		_, token, err := again(func() (*Boat, object.Token, error) { return w.RemoveFinalizer(s.ctx, held, name(n)) })
		if err == nil {
			err = arrived(s, c, token)
		}
		if token.Gone {
			gone <- token
		}
		return err
	})
	if len(gone) != 1 {
		s.Errorf("%d removals were the last", len(gone))
	}
}

// again repeats a call that has met ten conflicts in a row.
func again[T any](call func() (T, object.Token, error)) (obj T, token object.Token, err error) {
	for {
		if obj, token, err = call(); !apierrors.IsConflict(err) {
			return obj, token, err
		}
	}
}

// crowd writes one object in all ways at the same time: no write is lost, patches don't conflict,
// and the cache has each write when its token has come.
func crowd(s *stage) {
	each := 10
	if testing.Short() {
		each = 3
	}
	c, w := cache[*Boat](s, boats), s.boats(writer.Options{FieldManager: "crowd"})
	ada, token, err := w.Create(s.ctx, s.boat("ada"))
	s.ok(err)
	s.ok(arrived(s, c, token))
	key := object.KeyOf(ada)
	mine := func(n int) *writer.Writer[*Boat] {
		return s.boats(writer.Options{FieldManager: fmt.Sprint("m", n), Force: true})
	}
	s.together(8, func(n int) error {
		for i := range each {
			var token object.Token
			var err error
			switch n % 4 {
			case 0: // from what the cache has, which may be old
				cached, _ := c.Store().Snapshot().Get(key)
				_, token, err = again(func() (*Boat, object.Token, error) {
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
				err = arrived(s, c, token)
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
		s.Errorf("%d trips, %d annotations and the parts %v are left", got.Status.Trips, len(got.Annotations), got.Spec.Parts)
	}
	if cached, _ := c.Store().Snapshot().Get(key); cached.ResourceVersion != got.ResourceVersion {
		s.Errorf("the cache is at %s, the server at %s", cached.ResourceVersion, got.ResourceVersion)
	}
}

// update is the loop of a client that doesn't use Mutate.
func update(s *stage, w *writer.Writer[*Boat], key object.Key, change func(*Boat)) (*Boat, object.Token, error) {
	return again(func() (*Boat, object.Token, error) {
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
