// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/lister"
)

// TestReadYourWrites has many goroutines write at once. Each awaits its write and then reads it:
// 200 writes, and the deletes.
func TestReadYourWrites(t *testing.T) {
	t.Parallel()
	for name, opts := range listModes {
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

// readWrites is the only writer of one object. It writes the object again and again, and reads it
// from the lister after each write.
func (i collection) readWrites(ctx context.Context, cache *informer.SharedIndexInformer[*Crate], name string, writes int64) error {
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
