// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/lister"
	"github.com/informer-gen/informer-gen/runtime/object"
)

// Many goroutines write at once, and each reads its own write as soon as it has awaited it: 200
// writes, and the deletes.
func TestReadYourWrites(t *testing.T) {
	t.Parallel()
	for name, opts := range bothWays {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ns := shared.crates(t)
			ns.createMany(t, 3)
			f, i := crateInformer(t, shared.url, ns, opts...)
			h, _ := listen(t, i)
			runSynced(t, f)
			const writers, writes = 8, 25
			ended := make(chan error, writers)
			ctx := deadline(t)
			for w := range writers {
				go func() { ended <- ns.readWrites(ctx, i, fmt.Sprint("writer-", w), writes) }()
			}
			for range writers {
				if err := <-ended; err != nil {
					t.Error(err)
				}
			}
			agree(t, ns.state(t), h, i.Store())
		})
	}
}

// readWrites is the only writer of one object, writes it again and again, and reads it from the
// lister after each write.
func (i in) readWrites(ctx context.Context, cache *informer.SharedIndexInformer[*Crate], name string, writes int64) error {
	crates := lister.New(cache.Store(), i.gvr.GroupResource()).Namespace(i.namespace)
	exists := false
	for n := range writes {
		var u *unstructured.Unstructured
		var err error
		if exists {
			u, err = i.client().Patch(ctx, name, types.MergePatchType, fmt.Appendf(nil, `{"spec":{"weight":%d}}`, n+1), metav1.PatchOptions{})
		} else {
			u = &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"weight": n + 1}}}
			u.SetAPIVersion(i.gvr.GroupVersion().String())
			u.SetKind("Crate")
			u.SetName(name)
			u, err = i.client().Create(ctx, u, metav1.CreateOptions{})
			exists = true
		}
		if err != nil {
			return fmt.Errorf("write %d of %s: %w", n, name, err)
		}
		written := &Crate{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, written); err != nil {
			return err
		}
		if err := cache.AwaitObject(ctx, written); err != nil {
			return err
		}
		if got, err := crates.Get(name); err != nil || got.ResourceVersion != written.ResourceVersion || got.Spec.Weight != n+1 {
			return fmt.Errorf("after write %d, %s, the lister has %+v, %w", n, id(written), got, err)
		}
		if n%5 != 4 {
			continue
		}
		if err := i.client().Delete(ctx, name, metav1.DeleteOptions{}); err != nil {
			return fmt.Errorf("delete %s: %w", name, err)
		}
		exists = false
		if err := cache.AwaitDeleted(ctx, written); err != nil {
			return err
		}
		if got, err := crates.Get(name); !apierrors.IsNotFound(err) {
			return fmt.Errorf("after the delete of %s the lister has %+v, %w", name, got, err)
		}
		if err := cache.AwaitObject(ctx, written); err != nil { // it was there, and is gone
			return err
		}
	}
	return nil
}

// The delete of an object with a finalizer is an update at first. A later object of the same name
// is another object.
func TestAwaitDeletedWithFinalizer(t *testing.T) {
	t.Parallel()
	for name, opts := range bothWays {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ns := shared.crates(t)
			f, i := crateInformer(t, shared.url, ns, opts...)
			h, _ := listen(t, i)
			runSynced(t, f)
			held := asCrate(t, ns.create(t, crate("blue", func(c *Crate) { c.Finalizers = []string{"example.com/hold"} })))
			if err := i.AwaitObject(deadline(t), held); err != nil {
				t.Fatal(err)
			}
			ns.delete(t, "blue")
			h.awaitLine("update blue")
			if c, ok := i.Store().Snapshot().Get(object.KeyOf(held)); !ok || c.DeletionTimestamp == nil {
				t.Errorf("the store has %+v", c)
			}
			why := errors.New("enough")
			ctx, cancel := context.WithCancelCause(t.Context())
			time.AfterFunc(20*time.Millisecond, func() { cancel(why) })
			if err := i.AwaitDeleted(ctx, held); !errors.Is(err, why) {
				t.Errorf("waiting for an object that a finalizer holds gives %v, want %v", err, why)
			}

			gone := make(chan error, 1)
			go func() { gone <- i.AwaitDeleted(deadline(t), held) }()
			ns.patch(t, "blue", `{"metadata":{"finalizers":null}}`)
			again := asCrate(t, ns.create(t, crate("blue")))
			if err := <-gone; err != nil {
				t.Fatal(err)
			}
			if err := i.AwaitObject(deadline(t), again); err != nil {
				t.Fatal(err)
			}
			if err := i.AwaitDeleted(deadline(t), held); err != nil {
				t.Errorf("once more: %v", err)
			}
			if c, ok := i.Store().Snapshot().Get(object.KeyOf(again)); !ok || c.UID != again.UID {
				t.Errorf("the store has %+v", c)
			}
			h.wantLines(0, "add blue", "update blue", "delete blue", "add blue")
		})
	}
}

// Changes that happen while the informer is cut off, and those that only a relist brings, can be
// awaited, too.
func TestAwaitAcrossARelist(t *testing.T) {
	t.Parallel()
	for name, opts := range bothWays {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ns := shared.crates(t)
			doomed := asCrate(t, ns.create(t, crate("doomed")))
			replaced := asCrate(t, ns.create(t, crate("replaced")))
			p := newProxy(t, shared.url, nil)
			f, i := crateInformer(t, p.url, ns, opts...)
			h, _ := listen(t, i)
			runSynced(t, f)
			p.disconnect(t)
			ns.delete(t, "doomed")
			ns.delete(t, "replaced")
			anew := asCrate(t, ns.create(t, crate("replaced")))
			created := asCrate(t, ns.create(t, crate("created")))
			brief := asCrate(t, ns.create(t, crate("brief")))
			ns.delete(t, "brief")
			ctx := deadline(t)
			waits := map[string]func() error{
				"the object that was deleted":      func() error { return i.AwaitDeleted(ctx, doomed) },
				"the object that was replaced":     func() error { return i.AwaitDeleted(ctx, replaced) },
				"the object in its place":          func() error { return i.AwaitObject(ctx, anew) },
				"the object that is new":           func() error { return i.AwaitObject(ctx, created) },
				"the object that came and went":    func() error { return i.AwaitObject(ctx, brief) },
				"the end of what came and went":    func() error { return i.AwaitDeleted(ctx, brief) },
				"the resourceVersion of the write": func() error { return i.AwaitResourceVersion(ctx, created.ResourceVersion) },
			}
			ended := make(chan error, len(waits))
			for what, wait := range waits {
				go func() {
					if err := wait(); err != nil {
						ended <- fmt.Errorf("awaiting %s: %w", what, err)
						return
					}
					ended <- nil
				}()
			}
			select {
			case err := <-ended:
				t.Errorf("something was awaited that is not there yet: %v", err)
			case <-time.After(20 * time.Millisecond):
			}
			p.setFaults(next(p, fault{status: http.StatusGone}))
			p.cut()
			for range waits {
				select {
				case err := <-ended:
					if err != nil {
						t.Error(err)
					}
				case <-ctx.Done():
					t.Fatal("not all waits have ended")
				}
			}
			agree(t, ns.state(t), h, i.Store())
		})
	}
}
